"""What all shapes share: described fields, an example, and how a route names the shape of its answer."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Shape(BaseModel):
    """An answer, or a part of one; the text below a field is the field's description."""

    model_config = ConfigDict(use_attribute_docstrings=True)


def example(**members: Any) -> ConfigDict:
    """For ``model_config``: the example that the document shows."""
    return ConfigDict(json_schema_extra={"examples": [members]})


def shown(shape: type[BaseModel]) -> Any:
    """The example of a shape, to be part of another one's."""
    extra: Any = shape.model_config["json_schema_extra"]
    return extra["examples"][0]


def examples() -> dict[str, list[Any]]:
    """The examples of all shapes, by the shape's name."""
    found, shapes = {}, list(Shape.__subclasses__())
    while shapes:
        shape = shapes.pop()
        shapes += shape.__subclasses__()
        if "json_schema_extra" in shape.model_config:
            found[shape.__name__] = [shown(shape)]
    return found


def answered(
    shape: type[BaseModel], status: int = 200, *, location: str | None = None
) -> dict[int | str, dict[str, Any]]:
    """For ``responses=`` of a route: its answer has this shape, which nothing checks at run time."""
    response: dict[str, Any] = {"model": shape}
    if location is not None:
        response["headers"] = {"Location": {"description": location, "schema": {"type": "string"}}}
    return {status: response}


class Progress(Shape):
    """How far a job is."""

    stage: str
    """What it is doing, in words."""
    share: float = Field(ge=0, le=1)
    """How much of it is done."""
