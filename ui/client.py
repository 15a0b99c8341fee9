"""The console's only way to the API.

Every failure, from a refused connection to a 422, becomes one :class:`ApiError` with a title and a detail that
can be shown as they are. Reads are cached for two seconds, by key, so that several people and several parts of
a page cost the API one call; what is sent is never cached and never sent twice.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any, cast
from urllib.parse import quote

import httpx2
import streamlit as st

from ui.answers import (
    Algorithm,
    Broker,
    BrokerPage,
    ChangePage,
    Difference,
    GraphLink,
    Identity,
    Overlay,
    Topic,
    TopicGraph,
    TopicPage,
    Trend,
    WhatIf,
)

DEFAULT_API_URL = "http://127.0.0.1:8080"
TIMEOUT = httpx2.Timeout(5.0, connect=1.0)
FILE_SECONDS = 60.0
FRESH_SECONDS = 2
_MOVING = threading.Lock()
_late: dict[tuple[object, ...], tuple[float, tuple[str, str]]] = {}
"""Reads that had no answer in time a moment ago: when, and what was said."""


class ApiError(Exception):
    """The API did not answer, or refused.

    ``status`` is the HTTP status, or 0 when nothing answered; ``slug`` is the problem's stable name, the end of its
    type.
    """

    def __init__(self, title: str, detail: str = "", status: int = 0, slug: str = "") -> None:
        super().__init__(title, detail, status)
        self.title = title
        self.detail = detail
        self.status = status
        self.slug = slug

    @property
    def passes(self) -> bool:
        """Whether waiting may help: the API is away, starting or in trouble, and the call itself is right."""
        return self.status == 0 or self.status >= 500


class TooSlow(ApiError):
    """The API gave no answer in time."""


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
    slug = str(body.get("type") or "").rpartition(":")[2]
    return ApiError(title, str(body.get("detail") or ""), response.status_code, slug)


def send(
    method: str,
    path: str,
    key: str,
    body: Any = None,
    *,
    params: dict[str, str | int] | None = None,
    headers: dict[str, str] | None = None,
    seconds: float = 5.0,
) -> Any:
    """One call, and its answer as JSON (None where there is no body)."""
    base_url = api_url()
    try:
        response = _connection(base_url).request(
            method,
            path,
            params=params,
            json=body,
            headers={"X-API-Key": key, **(headers or {})},
            timeout=httpx2.Timeout(seconds, connect=1.0),
        )
    except httpx2.TimeoutException:
        raise TooSlow("The API is slow", f"{base_url} gave no answer within {seconds:g} seconds.") from None
    except httpx2.HTTPError as error:
        raise ApiError("The API does not answer", f"{base_url}: {error}.") from None
    if not response.is_success:
        raise _problem(response)
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise ApiError("The API answered something else than JSON", f"{base_url}{path}", 502) from None


def get(path: str, key: str, **params: str | int | None) -> Any:
    """One read; parameters that are None are left out.

    Reads of one thing wait for each other, so that it is asked for once; when it comes too late for the first, the
    others do not wait as long again, one after the other.
    """
    given = {name: value for name, value in params.items() if value is not None}
    target = (api_url(), path, key, *sorted(given.items()))
    for late, (since, _) in list(_late.items()):
        if time.monotonic() - since > FRESH_SECONDS:
            _late.pop(late, None)
    known = _late.get(target)
    if known is not None:
        raise TooSlow(*known[1])
    try:
        return send("GET", path, key, params=given)
    except TooSlow as error:
        _late[target] = (time.monotonic(), (error.title, error.detail))
        raise


def segment(text: str) -> str:
    """An id as ONE segment of a path: every slash in it is encoded."""
    return quote(text, safe="")


@st.cache_data(ttl=60, max_entries=64, show_spinner=False)
def me(key: str) -> Identity:
    """Whose key it is, and what it may do."""
    return cast(Identity, get("/v1/me", key))


@st.cache_data(ttl=FRESH_SECONDS, max_entries=64, show_spinner=False)
def overlay(key: str, version: int | None = None) -> Overlay:
    """The overlay's figures, now or at a version."""
    return cast(Overlay, get("/v1/overlay", key, version=version))


def overlay_now(key: str) -> Overlay:
    """The overlay's figures of this moment: for what a version of two seconds ago would get wrong."""
    overlay.clear(key)
    return overlay(key)


@st.cache_data(ttl=FRESH_SECONDS, max_entries=256, show_spinner=False)
def topics(
    key: str,
    query: str = "",
    sort: str = "-subscribers",
    limit: int = 50,
    offset: int | None = None,
    after: str | None = None,
    problems: bool = False,
    at: int = 0,
) -> TopicPage:
    """One page of the topics whose name contains the query; with ``problems`` those that need a look only.

    ``at`` is the version that the page shows: the list does not say which one it is of, so that it could be remembered
    from an older one. The same below.
    """
    weak = "true" if problems else None
    page: dict[str, str | int | None] = {"limit": limit, "offset": offset, "after": after}
    return cast(TopicPage, get("/v1/topics", key, q=query, sort=sort, problems=weak, **page))


@st.cache_data(ttl=FRESH_SECONDS, max_entries=64, show_spinner=False)
def topic(key: str, name: str, version: int | None = None) -> Topic:
    """How one topic holds together, now or at a version."""
    return cast(Topic, get(f"/v1/topics/{segment(name)}", key, version=version))


@st.cache_data(ttl=FRESH_SECONDS, max_entries=16, show_spinner=False)
def topic_graph(key: str, name: str, version: int | None = None, around: str | None = None) -> TopicGraph:
    """One topic's brokers and links with coordinates; ``around`` a broker: two steps from it only."""
    path = f"/v1/topics/{segment(name)}/graph"
    return cast(TopicGraph, get(path, key, version=version, around=around))


def topic_links(key: str, name: str, version: int | None = None) -> list[GraphLink]:
    """The links of a topic too large to draw, for a file: it takes a while, and nobody waits for it unasked."""
    path, at = f"/v1/topics/{segment(name)}/graph", {} if version is None else {"version": version}
    return cast(TopicGraph, send("GET", path, key, params={**at}, seconds=FILE_SECONDS))["links"]


@st.cache_data(ttl=FRESH_SECONDS, max_entries=256, show_spinner=False)
def brokers(
    key: str,
    query: str = "",
    sort: str = "-degree",
    limit: int = 50,
    offset: int | None = None,
    after: str | None = None,
    at: int = 0,
) -> BrokerPage:
    """One page of the brokers whose id contains the query."""
    page: dict[str, str | int | None] = {"limit": limit, "offset": offset, "after": after}
    return cast(BrokerPage, get("/v1/brokers", key, q=query, sort=sort, **page))


@st.cache_data(ttl=FRESH_SECONDS, max_entries=64, show_spinner=False)
def broker(key: str, identity: str) -> Broker:
    """One broker: topics, links, backups, what breaks if it goes."""
    return cast(Broker, get(f"/v1/brokers/{segment(identity)}", key))


@st.cache_data(ttl=FRESH_SECONDS, max_entries=64, show_spinner=False)
def changes(key: str, at: int = 0, **filters: str | int | None) -> ChangePage:
    """Changes that pass the filters, as ``GET /v1/changes`` names them."""
    return cast(ChangePage, get("/v1/changes", key, **filters))


@st.cache_data(ttl=5 * FRESH_SECONDS, max_entries=16, show_spinner=False)
def trend(key: str, points: int = 200) -> Trend:
    """The overlay's figures along its versions."""
    return cast(Trend, get("/v1/trend", key, points=points))


@st.cache_data(ttl=60, max_entries=16, show_spinner="Looking through the history …")
def difference(key: str, first: int, second: int) -> Difference:
    """What one version has that another has not; with a long way between them it takes a while."""
    asked: dict[str, str | int] = {"from": first, "to": second}
    return cast(Difference, send("GET", "/v1/diff", key, params=asked, seconds=FILE_SECONDS))


@st.cache_data(ttl=60, max_entries=16, show_spinner="Trying it on a copy …")
def what_if(key: str, leave: tuple[str, ...], version: int) -> WhatIf:
    """What the loss of these brokers would do at this version, on a copy; asked again when the overlay moves."""
    body = {"leave": list(leave), "join": [], "subscribe": [], "unsubscribe": []}
    return cast(WhatIf, send("POST", "/v1/what-if", key, body, seconds=30))


@st.cache_data(ttl=600, max_entries=16, show_spinner=False)
def algorithms(key: str) -> list[Algorithm]:
    """The registry of algorithms."""
    return cast(list[Algorithm], get("/v1/algorithms", key))


def rows(key: str, wanted: int) -> int:
    """So many rows, or as many as this installation gives at once."""
    return min(wanted, _most_rows(key))


@st.cache_data(ttl=600, max_entries=16, show_spinner=False)
def _most_rows(key: str) -> int:
    """What the installation's document of the API says."""
    listed = get("/v1/openapi.json", key)["paths"]["/v1/topics"]["get"]["parameters"]
    return int(next(parameter for parameter in listed if parameter["name"] == "limit")["schema"]["maximum"])


@st.cache_resource(show_spinner=False)
def _newest(base_url: str) -> dict[str, int]:
    """The version that what is cached is not older than, for the whole process."""
    return {"version": 0}


def moved_on(version: int) -> None:
    """The overlay is at this version: what is cached of others is old, which the first window says for all."""
    newest = _newest(api_url())
    with _MOVING:
        moved = newest["version"] != version
        newest["version"] = version
    if moved:
        forget()


def forget() -> None:
    """The overlay moved on: what is cached of it is old."""
    for read in (overlay, topics, topic, topic_graph, brokers, broker, changes, trend):
        read.clear()
