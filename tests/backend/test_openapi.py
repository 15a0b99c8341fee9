"""The OpenAPI document: every operation says its scope, its problems and its limits; a new one cannot forget to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from backend.api import create_app
from backend.api.openapi import TAGS
from tests.backend.documented import WITHOUT_SHAPE, closed, misfits, successes
from tests.backend.test_limits import SMALL, offline, settings

READING = {"/v1/what-if", "/v1/queries/{query}/run"}
"""What a key that only reads may POST: questions too long for a URL. Whatever changes something needs more."""

Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    app = create_app(settings(tmp_path_factory.mktemp("home"), **SMALL))
    with offline(app):
        return app.openapi()


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from parts(item)


def test_operation_ids_are_short_and_unique(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z_]+", name) for name in ids), ids


def test_every_operation_is_described_and_tagged(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        assert operation.get("description"), (method, path)
        assert set(operation["tags"]) <= set(TAGS), (method, path)
        assert operation["tags"], (method, path)
    assert {tag["name"] for tag in document["tags"]} == {
        tag for _, _, operation in operations(document) for tag in operation["tags"]
    }


def test_nothing_under_v1_goes_without_a_key(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"]["key"]["name"] == "X-API-Key"
    for path, method, operation in operations(document):
        if path.startswith("/v1/"):
            (requirement,) = operation["security"]
            (scope,) = requirement["key"]
            assert scope in ("read", "operate", "admin"), (method, path)
            assert method == "get" or scope != "read" or path in READING, (method, path)
        else:
            assert "security" not in operation, (method, path)


def test_every_problem_is_problem_json(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        responses = operation["responses"]
        assert "500" in responses
        if path.startswith("/v1/"):
            assert {"401", "503"} <= set(responses), (method, path)
            assert ("403" in responses) == (operation["security"] != [{"key": ["read"]}]), (method, path)
        if "{" in path:
            assert {"404", "422"} <= set(responses), (method, path)
        if "requestBody" in operation:
            assert {"413", "422"} <= set(responses), (method, path)
        for status, response in responses.items():
            assert response["description"], (method, path, status)
            if status >= "400":
                assert list(response["content"]) == ["application/problem+json"], (method, path, status)
    assert not {"HTTPValidationError", "ValidationError"} & set(document["components"]["schemas"])


def test_the_limits_in_force_are_shown(document: dict[str, Any]) -> None:
    for name, value in SMALL.items():
        assert f"| {value} | `TOPICWEAVE_{name.upper()}` |" in document["info"]["description"]
    shown = {part["x-limited-by"] for part in parts(document) if "x-limited-by" in part}
    assert {"TOPICWEAVE_MAX_PAGE_SIZE", "TOPICWEAVE_MAX_ID_LENGTH"} <= shown
    bounds = {"integer": "maximum", "array": "maxItems", "string": "maxLength"}
    for part in parts(document):
        if setting := part.get("x-limited-by"):
            assert part[bounds[part["type"]]] == SMALL[setting.removeprefix("TOPICWEAVE_").lower()]
    limit = {p["name"]: p for p in document["paths"]["/v1/topics"]["get"]["parameters"]}["limit"]
    assert limit["schema"]["maximum"] == 30
    assert "2000 bytes" in document["paths"]["/v1/keys"]["post"]["responses"]["413"]["description"]


def test_a_link_is_two_strings(document: dict[str, Any]) -> None:
    link = document["components"]["schemas"]["ChangeAnswer"]["properties"]["opened"]["items"]
    assert link == {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}


def examples(document: dict[str, Any], media: dict[str, Any]) -> list[Any]:
    """What the document shows of an answer: beside its schema, or in it."""
    if "example" in media:
        return [media["example"]]
    schema = media.get("schema", {})
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    found: list[Any] = schema.get("examples", [])
    return found


def test_every_answer_has_a_schema_and_an_example_that_fits_it(document: dict[str, Any]) -> None:
    strict = closed(document)
    for (method, path, status), response in successes(document).items():
        for kind, media in response["content"].items():
            if (method, path) not in WITHOUT_SHAPE:
                assert kind == "application/json", (method, path)
                assert list(media["schema"]) == ["$ref"], (
                    method,
                    path,
                    "what was derived says more than the shape",
                )
                assert examples(document, media), (method, path, status)
            for example in examples(document, media):
                assert misfits(strict, media["schema"], example) == [], (method, path, status)


def test_every_example_of_a_schema_fits_it(document: dict[str, Any]) -> None:
    strict = closed(document)
    for name, schema in document["components"]["schemas"].items():
        for example in schema.get("examples", []):
            assert misfits(strict, schema | {"additionalProperties": False}, example) == [], name
            names = schema.get("properties", {})
            if name in answered(document):
                assert set(example) == set(names) if names else example, (name, "an example shows all fields")


def answered(document: dict[str, Any]) -> set[str]:
    """The schemas of answers and of their parts, by name."""
    schemas = document["components"]["schemas"]
    found: set[str] = set()
    wanted = [response["content"] for response in successes(document).values()]
    while wanted:
        names = {part["$ref"].rsplit("/", 1)[1] for part in parts(wanted) if "$ref" in part} - found
        found |= names
        wanted = [schemas[name] for name in names]
    return found


def test_every_field_of_an_answer_is_described(document: dict[str, Any]) -> None:
    for name in sorted(answered(document)):
        schema = document["components"]["schemas"][name]
        assert schema["description"], name
        for field, described in schema.get("properties", {}).items():
            assert described.get("description"), (name, field)


def test_a_problem_is_shown_as_it_is_met(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        for status, response in operation["responses"].items():
            if status >= "400":
                (media,) = response["content"].values()
                assert misfits(closed(document), media["schema"], media["example"]) == []
                assert str(media["example"]["status"]) == status, (method, path)


def test_bodies_have_an_example(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for path, method, operation in operations(document):
        if path == "/v1/restores":
            continue  # a zip file is nothing to show
        for media in operation.get("requestBody", {}).get("content", {}).values():
            names = [part["$ref"].rsplit("/", 1)[1] for part in parts(media) if "$ref" in part]
            described = [media, *(schemas[name] for name in names)]
            assert any("example" in str(part) for part in described), (method, path)
            if "$ref" in media["schema"]:
                for example in examples(document, media):
                    assert misfits(document, media["schema"], example) == [], (method, path)
