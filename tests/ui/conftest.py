"""What the console's tests share: the app under AppTest on a stand-in API, with the key a session would use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from playwright.sync_api import Browser
from streamlit.testing.v1 import AppTest

from tests.conftest import Neo4jServer
from tests.ui import fake_api
from tests.ui.browser import chromium
from tests.ui.fake_api import FakeApi
from tests.ui.pages import assert_well
from tests.ui.system import Stack, system
from ui import access

# A page that AppTest runs has no server around it, and Streamlit would say so for every cached function.
os.environ.setdefault("STREAMLIT_LOGGER_LEVEL", "error")

# Of one run of a page, on cores that others use too.
RUN_SECONDS = 60
APP = Path(__file__).parents[2] / "ui" / "app.py"


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeApi]:
    """A stand-in API with a topic of each kind; the console is told where it is and where the key lies."""
    key_file = tmp_path / "api-key"
    key_file.write_text(fake_api.KEY + "\n")
    with fake_api.serve(fake_api.small()) as served:
        monkeypatch.setenv("TOPICWEAVE_API_URL", served.url)
        monkeypatch.setenv("TOPICWEAVE_API_KEY_FILE", str(key_file))
        # AppTest has no browser, so no address and no Host header.
        monkeypatch.setattr(access, "request_is_local", lambda: True)
        yield served
        st.cache_data.clear()
        # Releases the HTTP client, which closes its connections.
        st.cache_resource.clear()


@pytest.fixture(autouse=True)
def every_run_ends_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test does to a page: clicking and typing end in the same call."""
    run = AppTest._run

    def checked(app: AppTest, *given: Any, **more: Any) -> AppTest:
        done = run(app, *given, **more)
        assert_well(done)
        return done

    monkeypatch.setattr(AppTest, "_run", checked)


@pytest.fixture
def app(api: FakeApi) -> AppTest:
    """The console, not yet run; the first page is the overview."""
    return AppTest.from_file(str(APP), default_timeout=RUN_SECONDS)


@pytest.fixture(scope="package")
def stack(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """API and console as `topicweave up` starts them, on free ports, with the demo overlay."""
    with system(neo4j_server, tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched
