"""The documents hold what they say: commands exist, code runs, links lead somewhere, tables name what there is."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from backend.api import create_app
from backend.cli import main
from backend.metrics import Metrics, OverlayFigures
from backend.policy import Policy
from backend.settings import Settings
from cypher.library import queries
from tests.backend.test_limits import offline, settings
from tests.docs.pages import (
    DOCS,
    GUIDES,
    PAGES,
    ROOT,
    blocks,
    code,
    commands,
    name_of,
    parse,
    rows,
    shell_lines,
    text_of,
)

METHODS = "GET|POST|PUT|DELETE"


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """Every call of the API, from its own description."""
    app = create_app(settings(tmp_path_factory.mktemp("home")))
    with offline(app):
        paths = app.openapi()["paths"]
    return {(method.upper(), path) for path, found in paths.items() for method in found}


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_the_commands_exist_with_these_options(page: Path) -> None:
    for words in commands(page.read_text(encoding="utf-8")):
        try:
            parse(words)
        except click.ClickException as error:
            pytest.fail(f"topicweave {' '.join(words)}: {error.format_message()}")
        if words[0] == "query" and len(words) > 1 and words[1].islower():
            known = {one.name for one in queries()[words[1]].parameters}
            assert {word.partition("=")[0] for word in words if "=" in word} <= known, words


def test_commands_that_do_not_exist_are_found() -> None:
    for words in (["rebuild", "weave", "--kep", "0.4"], ["keys", "make", "x"], ["plan", "show"], ["no"]):
        with pytest.raises(click.ClickException):
            parse(words)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_and_modules_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE)) <= targets
    for module in re.findall(r"python -m ([\w.]+)", text):
        assert importlib.util.find_spec(module), module
    for script in re.findall(r"`(?:\.venv/bin/)?python ([\w/]+\.py)\b", text):
        assert (ROOT / script).exists() or (DOCS / "examples" / script).exists(), script


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_a_reader_can_type_what_is_printed(page: Path) -> None:
    """The shell finds the command, and knows every variable, by what the page said before."""
    text = page.read_text(encoding="utf-8")
    lines = shell_lines(text)
    if any(line.startswith("topicweave") for line in lines):
        before = text[: re.search(r"^topicweave", text, re.MULTILINE).start()]  # type: ignore[union-attr]
        assert ".venv/bin" in before
    known = {"HOME", "PWD", "PATH"}
    for line in lines:
        assert set(re.findall(r"\$([A-Z_]+)", line)) <= known, line
        known |= set(re.findall(r"^(?:export )?([A-Z_]+)=", line))


def test_what_is_restored_has_a_system_to_go_to() -> None:
    for name in ("operating.md", "backup.md"):
        words = commands(text_of(name))
        (restore,) = [found for found in words if found[0] == "restore"]
        home = restore[restore.index("--home") :]
        assert any(found[0] == "up" and found[1:3] == home for found in words[: words.index(restore)])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_images_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        found = (page.parent / file).resolve() if file else page
        assert found.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {
                re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in headings
            }


def test_every_page_is_reached() -> None:
    nav = (ROOT / "mkdocs.yml").read_text()
    for page in DOCS.glob("*.md"):
        assert page.name in nav
    index = text_of("decisions/index.md")
    for page in (DOCS / "decisions").glob("0*.md"):
        number, title = re.match(r"# (\d+)\. (.+)", page.read_text(encoding="utf-8")).groups()  # type: ignore[union-attr]
        assert int(number) == int(page.name[:4])
        assert f"| {number} | [{title}]({page.name}) |" in index
    for image in (DOCS / "images").glob("*.*"):
        assert any(image.name in page.read_text(encoding="utf-8") for page in PAGES), image.name


@pytest.mark.parametrize("name", ["library.md"])
def test_the_python_runs_from_top_to_bottom(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shared: dict[str, object] = {}
    for block in blocks(text_of(name), "python"):
        exec(compile(block, name, "exec"), shared)
    said = capsys.readouterr().out
    assert "True" in said
    assert "False" not in said


def test_the_commands_of_the_algorithms_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for line in shell_lines(text_of("algorithms.md")) if line.startswith("topicweave")]
    assert len(lines) >= 4
    for words in commands(text_of("algorithms.md"))[: len(lines)]:
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 0, words


def test_the_policy_table_is_the_policy() -> None:
    stated = {code(name)[0]: default for name, _, default in rows(text_of("operating.md"), "field")}
    assert stated == {
        name: f"{value:g}" if not isinstance(value, str) else value
        for name, value in Policy().properties().items()
    }


def test_the_settings_table_is_the_settings() -> None:
    named: dict[str, str] = {}
    for variables, _, defaults in rows(text_of("operating.md"), "variable"):
        values = defaults.strip("`").split(", ") if defaults else []
        named |= dict(zip(code(variables), [*values, *[""] * 9], strict=False))
    fields = Settings.model_fields
    by_variable = {str(f.validation_alias or f"TOPICWEAVE_{name.upper()}"): f for name, f in fields.items()}
    assert set(named) == set(by_variable)
    for variable, field in by_variable.items():
        if isinstance(field.default, (int, float)):
            assert named[variable] == f"{field.default:.0f}", variable


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_settings_metrics_and_calls_that_are_named_exist(page: Path, calls: set[tuple[str, str]]) -> None:
    text = page.read_text(encoding="utf-8")
    known = {str(f.validation_alias or f"TOPICWEAVE_{n.upper()}") for n, f in Settings.model_fields.items()}
    # Where benchmarks and experiments look for files; what a console that is started by itself reads.
    elsewhere = {"TOPICWEAVE_DATA", "TOPICWEAVE_CONSOLE_HOST", "TOPICWEAVE_API_KEY_FILE"}
    assert set(re.findall(r"\b(?:TOPICWEAVE|NEO4J)_[A-Z_]*[A-Z]\b", text)) <= known | elsewhere
    metrics = Metrics()
    metrics.change("join", "failed")
    metrics.request("GET", "/", 500, 0.1)
    metrics.watch(lambda: OverlayFigures(1, 1, 1, 1, 1, 1.0, 1, 0.0))
    series = metrics.text().decode()
    for name in set(re.findall(r"`(topicweave_\w+)`", text)):
        assert re.search(rf"^(# TYPE )?{name}\b", series, re.MULTILINE), name
    for methods, path in re.findall(rf"((?:(?:{METHODS})(?:`?,? (?:and )?`?))+)(/[\w/{{}}.-]+)", text):
        for method in re.findall(METHODS, methods):
            assert (method, path) in calls or path == "/v1/openapi.json", (method, path)


def test_the_paths_in_the_architecture_exist() -> None:
    for path in set(
        re.findall(
            r"`((?:algorithms|backend|cypher|spark|ui|tests|benchmarks|docs)/[\w/.]*)`",
            text_of("architecture.md"),
        )
    ):
        assert (ROOT / path).exists(), path


def test_the_agent_is_shown_whole() -> None:
    assert '--8<-- "agent.py"' in text_of("api.md")
    program = ast.parse((DOCS / "examples" / "agent.py").read_text())
    for part in [node for node in ast.walk(program) if isinstance(node, (ast.Module, ast.FunctionDef))]:
        if ast.get_docstring(part):
            part.body.pop(0)
    # Blank lines, comments and docstrings not counted.
    assert len([line for line in ast.unparse(program).splitlines() if line]) <= 58


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    # The package's note about its successor is not about these documents. Not --quiet: strict would miss warnings.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    assert "Last-Event-ID" in (tmp_path / "api" / "index.html").read_text(encoding="utf-8")
    pages = "".join(page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html"))
    # Readers may be offline: nothing is fetched from elsewhere to show a page.
    assert re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="https?://(?!www\.w3\.org)', pages) == []
