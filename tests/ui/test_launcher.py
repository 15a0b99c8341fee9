"""``python -m ui``: it serves on loopback from anywhere, ends on SIGTERM, and says what is wrong with a port."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx2
import pytest

from tests.ui.processes import ROOT, environment, free_port, started, tail
from ui import palette


def test_it_serves_from_any_directory_and_ends_on_sigterm(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "console.log"
    ready = f"http://127.0.0.1:{port}/_stcore/health"
    settings = {
        "TOPICWEAVE_CONSOLE_PORT": str(port),
        # A person's own settings must neither open the console to the network nor report its use.
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",
        "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "true",
        # Nor let a page of another origin use the home's key.
        "STREAMLIT_SERVER_ENABLE_CORS": "false",
        "STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false",
    }
    with started("ui", log, ready, settings, cwd=tmp_path) as process:
        page = httpx2.get(f"http://127.0.0.1:{port}/", trust_env=False)
        assert page.status_code == 200
        with pytest.raises(OSError):
            # Another address of this machine: bound to all interfaces, it would answer here as well.
            socket.create_connection(("127.0.0.2", port), timeout=2)
        assert answer_to(port, f"http://127.0.0.1:{port}") == 101
        assert answer_to(port, "http://elsewhere.example") == 403
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, tail(log)
    assert "Traceback" not in tail(log)


def answer_to(port: int, origin: str) -> int:
    """The status for a page of some origin that wants a session."""
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Origin": origin,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    lines = ["GET /_stcore/stream HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(connection.recv(64).split()[1])


@pytest.mark.parametrize("port", ["0", "70000", "http", "", "-1"])
def test_a_bad_port_is_one_line(port: str, tmp_path: Path) -> None:
    done = run(tmp_path, TOPICWEAVE_CONSOLE_PORT=port)
    assert done.returncode == 2
    assert done.stderr == f"TOPICWEAVE_CONSOLE_PORT: a port is a number from 1 to 65535 (got {port!r})\n"


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(tmp_path, TOPICWEAVE_CONSOLE_PORT=str(port))
    assert done.returncode == 2
    assert done.stderr == f"The console cannot listen on 127.0.0.1:{port}: Address already in use\n"


def run(cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ui"],
        cwd=cwd,
        env=environment(**settings),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_no_module_has_the_name_of_one_of_pythons_own() -> None:
    """Streamlit puts the folder first on the import path, so ``ui/html.py`` would be everybody's ``html``."""
    names = {path.stem for path in (ROOT / "ui").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert not names & sys.stdlib_module_names - {"__main__"}
    assert "pages" not in names


def test_charts_and_drawings_have_the_same_colours() -> None:
    config = tomllib.loads((ROOT / "ui" / ".streamlit" / "config.toml").read_text())
    for theme, colours in palette.PALETTES.items():
        assert tuple(config["theme"][theme]["chartCategoricalColors"]) == colours.components
        assert config["theme"][theme]["backgroundColor"] == colours.background
        assert config["theme"][theme]["textColor"] == colours.text
