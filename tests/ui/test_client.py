"""The way to the API: what is asked again, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

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
