"""The page: every statement with our figure beside the printed one, plots and tables, made from results alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from backend.demos import DEMOS
from backend.experiments.beyond import REAL_TITLE
from backend.experiments.catalogue import CHAPTERS, Chapter
from backend.experiments.origin import fingerprint
from backend.experiments.plots import svg, word
from backend.experiments.results import Results, as_csv, table_of
from backend.experiments.sources import DATA
from backend.experiments.sweep import POINT, Chart, Size, Statement, Sweep, Table

_SIZES: dict[Size, str] = {
    "quick": "**This is the quick size**: each sweep has fewer points than the paper's.",
    "full": "**This is the full size**: the sweeps have the papers' own points.",
}
USUAL = 0.05
"""The room of a statement that says no other."""
UNKNOWN = "not known"
"""Why a figure of ours differs, where the statement gives no reason."""
SOURCES = "sources"
"""Before the fingerprint of what made a page, in its first lines."""
_SHARES = ("pn_ratio", "above_bound", "repair_ratio")
_WHOLE = (
    "brokers",
    "topics",
    "max_degree",
    "forced_degree",
    "links",
    "bound",
    "inner_links",
    "outer_links",
    "diameter_max",
)


def write_page(
    results: Results, page: Path, command: str, chapters: Iterable[Chapter] = CHAPTERS
) -> list[Path]:
    """Write the page, and plots and tables to ``images/NAME OF THE PAGE/`` beside it; all files written.

    ``command`` is what the page says it was made by. What an earlier page left in that folder goes, so that it holds what the page shows and nothing else.
    """
    folder = page.parent / "images" / page.stem
    maker = _Maker(results, command, folder.relative_to(page.parent).as_posix())
    text = maker.text(list(chapters))
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.svg"), *folder.glob("*.csv")):
        if old.name not in maker.files:
            old.unlink()
    for name, content in maker.files.items():
        (folder / name).write_text(content, encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    return [page, *(folder / name for name in maker.files)]


def sources_of_page(page: Path) -> str | None:
    """The fingerprint that a page names, None where there is no page or it names none."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    found = re.search(rf", {SOURCES} `([0-9a-f]+)`\.", text)
    return found[1] if found else None


class _Maker:
    def __init__(self, results: Results, command: str, folder: str) -> None:
        self.results = results
        self.size: Size = results.size
        self.command = command
        self.folder = folder
        self.files: dict[str, str] = {}
        self.tables: dict[str, Table] = {}
        self.cpu = 0.0
        self.missing: dict[str, int] = {}
        self.versions: set[str] = set()

    def text(self, chapters: list[Chapter]) -> str:
        for chapter in chapters:
            for sweep in chapter.sweeps:
                measured = self.results.read(sweep)
                self.tables[sweep.name] = table_of(measured)
                self.cpu += sum(found.cpu for found in measured.values())
                self.versions |= {found.origin.version for found in measured.values()}
                self.missing[sweep.name] = len(self.results.wanted(sweep).keys() - measured.keys())
        bodies = [block for chapter in chapters for block in self._chapter(chapter)]
        return "\n\n".join([*self._head(chapters), *bodies]) + "\n"

    def _head(self, chapters: list[Chapter]) -> list[str]:
        judged = [(s, s.judge(self.tables)[1]) for chapter in chapters for s in chapter.statements]
        verdicts = Counter(verdict for _, verdict in judged)
        slower = sum(verdict == "differ" and "processor time" in s.note for s, verdict in judged)
        missing = sum(self.missing.values())
        undecided = "".join(
            f", {verdicts[verdict]} {verdict}"
            for verdict in ("not applicable", "not measured")
            if verdicts[verdict]
        )
        return [
            "# The papers, re-run",
            f"{_SIZES[self.size]} {self._seeds()} {self._points():,} points took {self.cpu / 60:.0f} processor minutes"
            + (f" with TopicWeave {' and '.join(sorted(self.versions))}" if self.versions else "")
            + f", {SOURCES} `{fingerprint(sweep for chapter in chapters for sweep in chapter.sweeps)}`."
            + (f" {missing:,} points are not measured yet." if missing else "")
            + f" Made in the project's directory, where the command is `.venv/bin/topicweave`, {self._with_data()}, by",
            f"```sh\n{self.command}\n```",
            self._how_to_make_it(chapters),
            f"**{verdicts.total()} statements of the papers: {verdicts['agree']} agree, {verdicts['differ']} differ{undecided}.**"
            f" Of those that differ, {slower} are running times. Where ours differs, the reason is given if we know it;"
            " where we do not, *not known* stands in its place. A reason that was not tested is marked *supposed*."
            " *Not applicable* is what ours cannot tell for or against.",
            "How to read it:",
            "- *Printed* is the paper's number, *ours* the same figure from our own runs. They agree when they are within 5%"
            " of each other, or within the room that stands in brackets; a limit (≤, ≥) may be passed by that much too."
            " Where the paper prints a word, the brackets hold what ours must be; what falls, rises or is lower has no"
            " room. The room of the others was set by hand, for several"
            " statements with our results in sight: the verdicts are not blind.\n"
            "- Interests are drawn with fixed sizes, topics without repeats, unless said otherwise; the exponential rate is"
            " gm's (a tenth of the topics holds 0.55), which the other papers do not print. Zipf's exponent is 0.5 in gm and"
            " low, 2 elsewhere.\n"
            "- Times are processor time of one process, kernels compiled, on a machine that has other work: read ratios,"
            " not seconds. The papers' times are of eager algorithms in Java; ours are lazy.\n"
            "- A line of a plot is the mean over seeds. The figures behind every plot are linked as CSV.",
        ]

    def _points(self) -> int:
        return sum(len({row[POINT] for row in t.rows}) for t in self.tables.values())

    def _seeds(self) -> str:
        """How many runs stand behind a figure."""
        many: dict[int, list[str]] = {}
        for name, table in self.tables.items():
            if seeds := {row["seed"] for row in table.rows if "seed" in row}:
                many.setdefault(len(seeds), []).append(name)
        if not many:
            return "No sweep that draws interests was run."
        usual = max(many, key=lambda seeds: len(many[seeds]))
        told = [f"{_runs(usual)} in {len(many.pop(usual))} sweeps"]
        told += [
            f"{_runs(seeds)} in {', '.join(f'`{n}`' for n in names)}" for seeds, names in sorted(many.items())
        ]
        return f"A figure is the mean of {'; '.join(told)}."

    def _with_data(self) -> str:
        """What the command's environment has to name for the same rows."""
        table = self.tables.get("beyond-real", Table(()))
        files = [name for name in dict.fromkeys(row["source"] for row in table.rows) if name not in DEMOS]
        if not files:
            return f"without `{DATA}`"
        return f"with `{DATA}` naming the folder of " + ", ".join(f"`{name}`" for name in files)

    def _how_to_make_it(self, chapters: list[Chapter]) -> str:
        points = sum(len(sweep.points("full")) for chapter in chapters for sweep in chapter.sweeps)
        other = (
            "The same with `--quick` takes a quarter of the time, with fewer points and seeds."
            if self.size == "full"
            else f"The full size is the same without `--quick`: the papers' own sizes, more seeds, {points:,} points,"
            " half an hour of one processor. It can be stopped and started again: what is measured is kept, until an algorithm or a file changes."
        )
        return (
            f"Where real interests come from stands [below](#{_anchor(REAL_TITLE)}); the command does without those that"
            f" the folder does not hold, and without the variable has the demo's alone. {other}"
        )

    def _chapter(self, chapter: Chapter) -> list[str]:
        blocks = [f"## {chapter.title}", f"*{chapter.source}.*" if chapter.source else ""]
        if chapter.statements:
            blocks.append(statements_table(chapter.statements, self.tables))
        sentences = [f.sentence(self.tables) for f in chapter.findings]
        if any(sentences):
            blocks.append("\n".join(f"- {sentence}" for sentence in sentences if sentence))
        for sweep in chapter.sweeps:
            blocks += self._sweep(sweep)
        return [block for block in blocks if block]

    def _sweep(self, sweep: Sweep) -> list[str]:
        table = self.tables[sweep.name]
        blocks = [f"### {sweep.title}", f"{sweep.about} *({sweep.source}; sweep `{sweep.name}`"]
        if not table:
            blocks[-1] += "; not measured yet.)*"
            return blocks
        figures = self._write(f"{sweep.name}.csv", as_csv(table))
        missing = self.missing[sweep.name]
        blocks[-1] += (
            f"; [figures]({figures})" + (f"; {missing} points not measured yet" if missing else "") + ")*"
        )
        blocks += [block for chart in sweep.charts if (block := self._chart(chart, table))]
        if sweep.shown:
            blocks.append(means_table(sweep, table))
        return [*blocks, sweep.remark(table)]

    def _chart(self, chart: Chart, table: Table) -> str | None:
        drawn = svg(chart, table)
        if drawn is None:
            return None
        return f"![{chart.title}]({self._write(f'{chart.name}.svg', drawn)})"

    def _write(self, name: str, text: str) -> str:
        self.files[name] = text if text.endswith("\n") else text + "\n"
        return f"{self.folder}/{name}"


def statements_table(statements: Iterable[Statement], tables: Mapping[str, Table]) -> str:
    """Printed and ours, with a verdict, a row a statement."""
    lines = ["| where | statement | printed | ours | verdict | |", "|---|---|--:|--:|---|---|"]
    for s in statements:
        value, verdict = s.judge(tables)
        ours = "-" if value is None else s.form.format(round(value, 6) + 0.0)
        mark = f"**{verdict}**" if verdict == "differ" else verdict
        reason = (s.reason or UNKNOWN) if verdict == "differ" else ""
        remark = "; ".join(filter(None, [reason, s.note]))
        lines.append(f"| {s.paper} | {s.text} | {printed(s)} | {ours} | {mark} | {remark} |")
    return "\n".join(lines)


def printed(statement: Statement) -> str:
    """What the paper prints, and how near ours must be: a share of it, or the limits where it prints a word."""
    if statement.printed_as:
        return f"{statement.printed_as} ({_limits(statement)})"
    number = _as_printed(statement)
    if statement.kind == "exactly":
        return number
    sign, room = {"about": ("", "±"), "at most": ("≤ ", "+"), "at least": ("≥ ", "-")}[statement.kind]
    return f"{sign}{number}" + ("" if statement.tolerance == USUAL else f" ({room}{statement.tolerance:.0%})")


def _as_printed(statement: Statement) -> str:
    """The printed number with its own digits: the form is that of ours, and may have fewer."""
    if statement.form.endswith("%}"):
        return f"{100 * statement.printed:,.10g}%"
    return f"{statement.printed:,.10g}"


def _limits(statement: Statement) -> str:
    low, high = (
        statement.form.format(statement.printed + room) for room in (-statement.room, statement.room)
    )
    exact = statement.form.format(statement.printed)
    return {"about": f"{low} to {high}", "at most": f"≤ {high}", "at least": f"≥ {low}", "exactly": exact}[
        statement.kind
    ]


def means_table(sweep: Sweep, table: Table) -> str:
    """The columns a sweep shows, means over everything its rows are not told apart by."""
    grouped: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in table.where(**sweep.shown_where).rows:
        grouped.setdefault(tuple(row.get(name) for name in sweep.rows_by), []).append(row)
    heads = [*map(word, sweep.rows_by), *map(word, sweep.shown)]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(sweep.rows_by) + "--:|" * len(sweep.shown)]
    for key, rows in grouped.items():
        cells = [_cell(name, value) for name, value in zip(sweep.rows_by, key, strict=True)]
        for name in sweep.shown:
            values = [row[name] for row in rows if row.get(name) is not None]
            cells.append(_cell(name, fmean(values) if values else None))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _runs(seeds: int) -> str:
    return "one run (one seed)" if seeds == 1 else f"{seeds} seeds"


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return re.sub(r"([|*_])", r"\\\1", value)
    if name in _SHARES:
        return f"{value:.1%}"
    if name in _WHOLE or isinstance(value, int):
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"
