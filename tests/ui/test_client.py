"""The way to the API: what is asked again, and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from backend.api.app import create_app
from tests.backend.test_limits import offline, settings
from ui import client


def test_a_read_that_came_too_late_is_not_waited_for_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads of one thing wait for each other: ten people would wait ten times as long, one after the other."""
    asked: list[str] = []

    def late(method: str, path: str, *_: Any, **__: Any) -> None:
        asked.append(path)
        raise client.TooSlow("The API is slow", "no answer within 5 seconds.")

    monkeypatch.setattr(client, "send", late)
    for _ in range(3):
        with pytest.raises(client.TooSlow, match="The API is slow"):
            client.get("/v1/overlay", "a key", version=1)
    assert asked == ["/v1/overlay"]
    with pytest.raises(client.TooSlow):
        client.get("/v1/overlay", "a key", version=2)
    assert len(asked) == 2, "another thing may come in time"
    monkeypatch.setattr(client, "FRESH_SECONDS", 0)
    with pytest.raises(client.TooSlow):
        client.get("/v1/overlay", "a key", version=1)
    assert len(asked) == 3


def test_what_is_cached_is_forgotten_once_a_version_for_all_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten: list[None] = []
    monkeypatch.setenv("TOPICWEAVE_API_URL", "http://127.0.0.1:1")
    monkeypatch.setattr(client, "forget", lambda: forgotten.append(None))
    for version in (2, 2, 3, 3, 2):
        client.moved_on(version)
    assert len(forgotten) == 3, "a backup may bring an older one"
    st.cache_resource.clear()


def test_how_many_rows_come_at_once_is_read_as_the_api_describes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = create_app(settings(tmp_path, max_page_size=70))
    with offline(app):
        monkeypatch.setattr(client, "get", lambda *_: app.openapi())
        assert [client.rows("another key", wanted) for wanted in (50, 500)] == [50, 70]
    client._most_rows.clear()
