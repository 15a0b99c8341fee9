"""The OpenAPI document: what FastAPI derives from the routes, and what all of them share.

Every operation shows the scope it needs, the problems it may answer with and the limits in force, so that a client
made from the document meets no surprise. Nothing here knows a route by name: new ones are described like the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI

from backend.api.answers.shape import examples
from backend.api.limits import LIMITED_BY, UPLOADS, Limits, variable
from backend.api.problems import MEDIA_TYPE, ProblemBody, problem_classes
from backend.errors import Problem
from backend.keyring import Scope

DESCRIPTION = """\
TopicWeave keeps one low fan-out, topic-connected overlay for a federation of publish/subscribe brokers: subscriptions
go in, the links each broker should keep come out.

* **Keys** go into the header `X-API-Key`. Scopes: `read` < `operate` < `admin`; each operation names the one it needs.
* **Ids** of brokers and names of topics are any text without control characters. In a path an id is ONE
  percent-encoded segment: the topic `/sensing/lidar` is `/v1/topics/%2Fsensing%2Flidar`. `.` and `..` are no ids.
* **Errors** are `application/problem+json` (RFC 9457); `type` stays, `field` names what was wrong.
* **Versions**: every committed change raises the overlay's version by one.
* **`X-Request-ID`** is taken from the request or made, answered, and stands in every line of the API's log.

| limit | in force | setting |
|---|---|---|
"""

TAGS = {
    "health": "Is the process alive, does it serve, what do its figures say? No key needed.",
    "overlay": "The overlay as a whole.",
    "brokers": "Who is in the overlay, and the links each keeps.",
    "topics": "What holds each topic together.",
    "changes": "Joins, leaves and subscriptions; the history and the live feed.",
    "agents": "Leases, acknowledgements, and links that cannot be opened.",
    "policy": "What the overlay must be, and how repairs choose links.",
    "what-if": "Failures and churn, tried before they happen.",
    "rebuilds": "A new set of links for all brokers: planned, previewed, activated or dropped.",
    "simulations": "Churn in bulk, on a copy.",
    "queries": "The analysts' query library.",
    "imports": "Interests and links in bulk.",
    "backups": "One version, its history and its keys in one file; and back.",
    "check": "Is what is served what Neo4j holds, and what was promised?",
    "algorithms": "The registry of algorithms.",
    "keys": "Who may call, and how far.",
}

_LIMITS = {
    "max_body_bytes": "bytes of a body",
    "max_upload_bytes": "bytes of an uploaded file",
    "max_id_length": "characters of an id",
    "max_page_size": "rows a page",
    "max_batch_size": "changes in a batch",
    "max_broker_topics": "topics a broker",
    "max_batch_subscriptions": "topics of all changes in a batch",
}
_BOUNDS = {"integer": "maximum", "array": "maxItems", "string": "maxLength"}
_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_MET = {
    401: ("X-API-Key: this key is not known here", "X-API-Key"),
    403: ("X-API-Key: this needs the scope admin (the key 'agent-7' has operate)", "X-API-Key"),
    404: ("broker: no such broker (got 'broker-8')", "broker"),
    409: ("id: has joined already (got 'broker-7')", "id"),
    410: ("after: changes are kept from version 4001 on (got 17)", "after"),
    412: ("If-Match: the overlay is at version 4712 (got 4711)", "If-Match"),
    413: ("body: at most 16777216 bytes (TOPICWEAVE_MAX_BODY_BYTES)", "body"),
    422: ("topics.3: an id cannot be empty (got '')", "topics.3"),
    500: ("an error nobody foresaw; the API's log has its trace under 4f0c2a9be1d3785a", None),
    503: ("Neo4j does not answer; nothing was changed", None),
    504: ("params: hubs took longer than 10 seconds", "params"),
}
"""For each status, the detail and the field of a problem that a caller may meet."""


def describe(limits: Limits) -> str:
    """The description of this installation's API."""
    rows = [f"| {_LIMITS[name]} | {value} | `{variable(name)}` |\n" for name, value in asdict(limits).items()]
    return DESCRIPTION + "".join(rows)


def complete_openapi(app: FastAPI, limits: Limits) -> None:
    """Make ``app.openapi()`` answer the whole document."""
    derive = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = derive()
            _complete(document, limits)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def route_templates(document: dict[str, Any]) -> dict[str, str]:
    """The path of each operation, by the operation's id."""
    return {operation["operationId"]: path for path, _, operation in _operations(document)}


def _complete(document: dict[str, Any], limits: Limits) -> None:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    used = set()
    for path, method, operation in _operations(document):
        used.update(operation.get("tags", ()))
        _show_scope(operation)
        _show_answers(operation)
        _show_problems(path, method, operation, limits)
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)  # that is how FastAPI would answer; we do not
    schemas["Problem"] = ProblemBody.model_json_schema()
    for name, shown in examples().items():
        if name in schemas:
            schemas[name]["examples"] = shown  # FastAPI took every null out of them
    document["tags"] = [{"name": tag, "description": TAGS[tag]} for tag in TAGS if tag in used]
    _show_limits(document, {variable(name): value for name, value in asdict(limits).items()})


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _show_scope(operation: dict[str, Any]) -> None:
    """One scope an operation, the highest: each includes those before it."""
    for requirement in operation.get("security", ()):
        for scheme, scopes in requirement.items():
            requirement[scheme] = [max(scopes, key=lambda scope: list(Scope).index(Scope(scope)))]


def _show_answers(operation: dict[str, Any]) -> None:
    """Where a route names the shape of its answer, what was derived from its annotation adds nothing."""
    for response in operation["responses"].values():
        for media in response.get("content", {}).values():
            if "$ref" in media.get("schema", {}):
                media["schema"] = {"$ref": media["schema"]["$ref"]}


def _show_problems(path: str, method: str, operation: dict[str, Any], limits: Limits) -> None:
    responses = operation["responses"]
    kinds = problem_classes()
    limit = "max_upload_bytes" if path in UPLOADS else "max_body_bytes"
    names = {parameter["name"].lower() for parameter in operation.get("parameters", ())}
    scopes = {scope for entry in operation.get("security", ()) for scope in entry["key"]}
    applies = {
        401: bool(scopes),
        403: bool(scopes - {Scope.READ.value}),
        404: "{" in path,
        409: method != "get" and bool(scopes - {Scope.READ.value}),
        412: "if-match" in names,
        413: "requestBody" in operation,
        422: "requestBody" in operation or bool(operation.get("parameters")),
        500: True,
        503: bool(scopes),
    }
    for status in [status for status, shared in applies.items() if shared]:
        response = responses.setdefault(str(status), {})
        response["description"] = kinds[status].title
        if status == 413:
            response["description"] += f": at most {getattr(limits, limit)} bytes ({variable(limit)})"
    if "dry_run" in names and "200" not in responses:
        made = responses["201" if "201" in responses else "202"]
        responses["200"] = {**made, "description": "The plan alone; nothing was changed"}
    for status, response in responses.items():
        if status >= "400":
            response["content"] = {MEDIA_TYPE: {"schema": _PROBLEM, "example": _met(kinds[int(status)])}}
        response.setdefault("headers", {})["X-Request-ID"] = {
            "description": "the id of this request in the API's log",
            "schema": {"type": "string"},
        }
    operation["responses"] = dict(sorted(responses.items()))


def _met(kind: type[Problem]) -> dict[str, Any]:
    """A problem of this kind, as a caller meets it."""
    detail, field = _MET[kind.status]
    problem = {
        "type": f"urn:topicweave:problem:{kind.slug}",
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
    }
    return problem if field is None else problem | {"field": field}


def _show_limits(part: Any, values: dict[str, int]) -> None:
    """Write the number in force beside every ``x-limited-by``; and pairs so that more tools understand them."""
    if isinstance(part, list):
        for item in part:
            _show_limits(item, values)
    elif isinstance(part, dict):
        if name := part.get(LIMITED_BY):
            part[_BOUNDS[part["type"]]] = values[name]
            if part["type"] == "integer" and "default" in part:
                part["default"] = min(part["default"], values[name])
        members = part.get("prefixItems")
        if isinstance(members, list) and all(member == members[0] for member in members):
            part["items"] = part.pop("prefixItems")[0]
        for value in list(part.values()):
            _show_limits(value, values)
