"""The OpenAPI document: what FastAPI derives from the routes, and what all of them share.

Every operation shows the scope it needs, the problems it may answer with and the limits in force, so that a client
made from the document meets no surprise. Nothing here knows a route by name: new ones are described like the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI

from backend.api.limits import LIMITED_BY, UPLOADS, Limits, variable
from backend.api.problems import MEDIA_TYPE, ProblemBody, problem_classes
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
}
_BOUNDS = {"integer": "maximum", "array": "maxItems", "string": "maxLength"}
_PROBLEM = {"$ref": "#/components/schemas/Problem"}


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
        _show_problems(path, method, operation, limits)
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)  # that is how FastAPI would answer; we do not
    schemas["Problem"] = ProblemBody.model_json_schema()
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
            response["content"] = {MEDIA_TYPE: {"schema": _PROBLEM}}
        response.setdefault("headers", {})["X-Request-ID"] = {
            "description": "the id of this request in the API's log",
            "schema": {"type": "string"},
        }
    operation["responses"] = dict(sorted(responses.items()))


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
