"""The console's only way to the API.

Every failure, from a refused connection to a 422, becomes one :class:`ApiError` with a title and a detail that
can be shown as they are. Answers are cached for two seconds, by key, so that several people and several parts of
a page cost the API one call.
"""

from __future__ import annotations

import os
from typing import Any, cast
from urllib.parse import quote

import httpx2
import streamlit as st

from ui.answers import Overlay, Topic, TopicGraph, TopicPage

DEFAULT_API_URL = "http://127.0.0.1:8080"
TIMEOUT = httpx2.Timeout(5.0, connect=1.0)
FRESH_SECONDS = 2


class ApiError(Exception):
    """The API did not answer, or refused.

    ``status`` is the HTTP status, or 0 when nothing answered.
    """

    def __init__(self, title: str, detail: str = "", status: int = 0) -> None:
        super().__init__(title, detail, status)
        self.title = title
        self.detail = detail
        self.status = status

    @property
    def passes(self) -> bool:
        """Whether waiting may help: the API is away, starting or in trouble, and the call itself is right."""
        return self.status == 0 or self.status >= 500


def api_url() -> str:
    """Where the API is, without a slash at the end."""
    return os.environ.get("TOPICWEAVE_API_URL", DEFAULT_API_URL).rstrip("/")


def _close(client: httpx2.Client) -> None:
    client.close()


@st.cache_resource(show_spinner=False, on_release=_close)
def _connection(base_url: str) -> httpx2.Client:
    """One pool of connections for the whole process; proxies of the machine are not for this call."""
    return httpx2.Client(base_url=base_url, timeout=TIMEOUT, trust_env=False)


def _problem(response: httpx2.Response) -> ApiError:
    """An answer that is not a 2xx, in words: the problem's own where it has them."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {}
    title = str(body.get("title") or f"The API answered {response.status_code} {response.reason_phrase}")
    return ApiError(title, str(body.get("detail") or ""), response.status_code)


def _get(path: str, key: str, **params: str | int) -> Any:
    base_url = api_url()
    try:
        response = _connection(base_url).get(path, params=params, headers={"X-API-Key": key})
    except httpx2.TimeoutException:
        raise ApiError(
            "The API is slow", f"{base_url} gave no answer within {TIMEOUT.read:g} seconds."
        ) from None
    except httpx2.HTTPError as error:
        raise ApiError("The API does not answer", f"{base_url}: {error}.") from None
    if not response.is_success:
        raise _problem(response)
    try:
        return response.json()
    except ValueError:
        raise ApiError("The API answered something else than JSON", f"{base_url}{path}", 502) from None


def segment(text: str) -> str:
    """An id as ONE segment of a path: every slash in it is encoded."""
    return quote(text, safe="")


@st.cache_data(ttl=FRESH_SECONDS, max_entries=64, show_spinner=False)
def overlay(key: str) -> Overlay:
    """The overlay's figures."""
    return cast(Overlay, _get("/v1/overlay", key))


@st.cache_data(ttl=FRESH_SECONDS, max_entries=256, show_spinner=False)
def topics(
    key: str, query: str = "", sort: str = "-subscribers", limit: int = 50, offset: int = 0
) -> TopicPage:
    """One page of the topics whose name contains the query."""
    return cast(TopicPage, _get("/v1/topics", key, q=query, sort=sort, limit=limit, offset=offset))


@st.cache_data(ttl=FRESH_SECONDS, max_entries=64, show_spinner=False)
def topic(key: str, name: str) -> Topic:
    """How one topic holds together."""
    return cast(Topic, _get(f"/v1/topics/{segment(name)}", key))


@st.cache_data(ttl=FRESH_SECONDS, max_entries=16, show_spinner=False)
def topic_graph(key: str, name: str) -> TopicGraph:
    """One topic's brokers and links with coordinates."""
    return cast(TopicGraph, _get(f"/v1/topics/{segment(name)}/graph", key))


def forget_topics() -> None:
    """The overlay moved on: what is cached of its topics is old."""
    topic.clear()
    topic_graph.clear()
