"""What the console's tests share: the app under AppTest on a stand-in API, with the key a session would use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.ui import fake_api
from tests.ui.fake_api import FakeApi
from ui import access

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


@pytest.fixture
def app(api: FakeApi) -> AppTest:
    """The console, not yet run; the first page is the overview."""
    return AppTest.from_file(str(APP), default_timeout=20)
