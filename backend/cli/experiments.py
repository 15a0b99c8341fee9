"""``experiments``: the papers' experiments, re-run, and a page that holds the figures against the printed ones."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import click

from backend.cli.forms import FILE, progress_bar
from backend.errors import BadValue
from backend.experiments.catalogue import CHAPTERS, SWEEPS, choose
from backend.experiments.origin import fingerprint
from backend.experiments.page import sources_of_page, write_page
from backend.experiments.results import Results
from backend.experiments.run import left_to_do, run
from backend.experiments.sweep import Size, Sweep

OUT = Path("build") / "experiments"


@click.command("experiments")
@click.argument("sweeps", nargs=-1, metavar="[SWEEP]...")
@click.option("--quick", is_flag=True, help="A quarter of the time: fewer points, fewer seeds.")
@click.option(
    "--out", type=FILE, default=OUT, metavar="DIR", help=f"Where results are kept.  [default: {OUT}]"
)
@click.option(
    "--page", type=FILE, metavar="FILE", help="The page.  [default: experiments.md among the results]"
)
@click.option("--no-run", is_flag=True, help="Measure nothing, make the page from what is there.")
@click.option("--again", is_flag=True, help="Measure anew what is there already.")
@click.option(
    "--list",
    "list_sweeps",
    is_flag=True,
    help="Name the sweeps, with their points done and wanted, and say if the page is of other code.",
)
def experiments(
    sweeps: tuple[str, ...],
    quick: bool,
    out: Path,
    page: Path | None,
    no_run: bool,
    again: bool,
    list_sweeps: bool,
) -> None:
    """Re-run the papers' experiments and hold every printed figure against ours.

    SWEEP is the name of one, or the beginning of several: gm, dc, low, ktco, shadow, beyond. Without any, all run.
    Every point is kept as soon as it is measured: the same command goes on where an interrupted one stopped, and measures
    anew what an algorithm or a file has changed under. Real interests are read from the folder that TOPICWEAVE_DATA names, beside the demo's.
    """
    if no_run and again:
        raise click.UsageError("--no-run and --again exclude each other")
    size: Size = "quick" if quick else "full"
    chosen = choose(sweeps)
    results = Results(_folder(out / size), size)
    given, page = page, page or results.folder / "experiments.md"
    if page.suffix != ".md" or page.is_dir():
        raise BadValue(f"page: must be a file that ends in .md (got {str(page)!r})", field="page")
    if list_sweeps:
        _list(chosen, results)
        _age(page)
        return
    if again:
        for sweep in chosen:
            results.forget(sweep)
    if outdated := sum(map(results.outdated, chosen)):
        then = "left out" if no_run else "measured anew"
        click.echo(f"{outdated} points were measured by other code or from other data, and are {then}")
    # Before anything is measured: that may take half an hour.
    _make(results.folder, "out")
    _make(page.parent, "page")
    if not no_run:
        _run(chosen, results)
    written = write_page(results, page, _command(sweeps, size, out, given))
    _summary(results)
    click.echo(
        f"{page}: written, with {len(written) - 1} plots and tables in {page.parent / 'images' / page.stem}"
    )


def _command(sweeps: tuple[str, ...], size: Size, out: Path, page: Path | None) -> str:
    """What makes the same page again, on whatever machine."""
    words = [
        *(["--quick"] if size == "quick" else []),
        *(["--out", str(out)] if out != OUT else []),
        *(["--page", str(page)] if page else []),
    ]
    return shlex.join(["topicweave", "experiments", *sweeps, *words])


def _folder(path: Path) -> Path:
    for part in (path, *path.parents):
        if part.exists() and not part.is_dir():
            raise BadValue(f"out: {part} is a file, results need a folder (got {str(path)!r})", field="out")
    return path


def _make(folder: Path, field: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"the folder {folder} cannot be made: {error.strerror}"
        raise BadValue(f"{field}: {reason}", field=field) from None


def _run(chosen: list[Sweep], results: Results) -> None:
    try:
        with progress_bar("experiments", hidden=False) as progress:
            run(chosen, results, progress=progress, finished=_finished)
    except KeyboardInterrupt:
        left = left_to_do(chosen, results)
        wanted = sum(one.wanted for one in left)
        done = wanted - sum(len(one.points) for one in left)
        click.echo(
            f"{done} of {wanted} points are kept in {results.folder}; the same command goes on from there",
            err=True,
        )
        raise


def _finished(sweep: Sweep, points: int, cpu: float) -> None:
    click.echo(f"{sweep.name}: {points} points in {cpu:.1f} processor seconds")


def _list(chosen: list[Sweep], results: Results) -> None:
    for left in left_to_do(chosen, results):
        done = left.wanted - len(left.points)
        click.echo(
            f"{left.sweep.name:<20} {done:>4} of {left.wanted:>4}  {left.sweep.title} ({left.sweep.source})"
        )


def _age(page: Path) -> None:
    """Say so when a page is there whose figures are of other code than today's."""
    if not page.is_file():
        return
    made, today = sources_of_page(page), fingerprint(SWEEPS.values())
    if made != today:
        click.echo(f"{page}: made by other sources ({made or 'not named'}) than today's ({today})")


def _summary(results: Results) -> None:
    tables = {name: results.table(sweep) for name, sweep in SWEEPS.items()}
    verdicts: Counter[str] = Counter()
    for chapter in CHAPTERS:
        for statement in chapter.statements:
            verdicts[statement.judge(tables)[1]] += 1
    click.echo(
        f"{verdicts.total()} statements: {verdicts['agree']} agree, {verdicts['differ']} differ,"
        f" {verdicts['not applicable']} not applicable, {verdicts['not measured']} not measured"
    )
