"""What the OpenAPI document says of answers, held against answers.

The document is open: more fields may be answered one day, and clients have to expect them. Here it is closed, so that
a field which is answered and not described is found.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator

Call = tuple[str, str, str]
"""Method, path and status, as the document has them."""

WITHOUT_SHAPE = {
    ("get", "/v1/backup"): "a zip file",
    ("get", "/v1/events"): "a stream; its example is one of text",
}
"""Operations whose answer is no JSON, and what it is."""


def closed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with no room for fields that it does not name."""
    document = copy.deepcopy(document)
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return document


def misfits(document: dict[str, Any], schema: dict[str, Any], value: Any) -> list[str]:
    """Where a value does not fit one of the document's schemas."""
    validator = Draft202012Validator({**schema, "components": document["components"]})
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def successes(document: dict[str, Any]) -> dict[Call, dict[str, Any]]:
    """The good answers of every operation under /v1."""
    return {
        (method, path, status): response
        for path, methods in document["paths"].items()
        if path.startswith("/v1/")
        for method, operation in methods.items()
        for status, response in operation["responses"].items()
        if status < "400"
    }


@dataclass
class Judge:
    """Holds answers against the document, and remembers which calls it has seen."""

    document: dict[str, Any]
    seen: set[Call] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.document = closed(self.document)

    def judge(self, method: str, url: str, answer: Any) -> None:
        """Fail where an answer is not as documented."""
        method, path, status = method.lower(), self._template(method.lower(), url), str(answer.status_code)
        response = self.document["paths"][path][method]["responses"][status]
        self.seen.add((method, path, status))
        media = response["content"][answer.headers["content-type"].split(";")[0]]
        if "schema" in media and "json" in answer.headers["content-type"]:
            found = misfits(self.document, media["schema"], answer.json())
            assert not found, (method, url, status, found)

    def _template(self, method: str, url: str) -> str:
        asked = url.partition("?")[0].split("/")
        fitting: list[str] = [
            path
            for path, methods in self.document["paths"].items()
            if method in methods and _fits(path.split("/"), asked)
        ]
        return min(fitting, key=lambda path: path.count("{"))


def _fits(template: list[str], asked: list[str]) -> bool:
    return len(template) == len(asked) and all(
        part.startswith("{") or part == given for part, given in zip(template, asked, strict=True)
    )
