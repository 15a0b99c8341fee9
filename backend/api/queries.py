"""The analysts' query library: listed, described, run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from backend.api.answers.shape import Shape, example, shown
from backend.api.dependencies import TheManager
from backend.api.problems import problems
from backend.queries import find_query, run_query
from cypher.library import queries

router = APIRouter(tags=["queries"])

_SHOWN = queries()["hubs"]
"""The question of the examples."""

QueryName = Annotated[
    str, Path(description="the query's name, as `GET /v1/queries` lists it", examples=["hubs"])
]


class QueryParameter(Shape):
    """What a query is told."""

    name: str = Field(description="its name")
    type: Literal["string", "integer", "number", "boolean"] = Field(description="what a value must be")
    default: str | int | float | bool | None = Field(description="null: it has to be given")
    required: bool = Field(description="whether it has to be given")
    description: str = Field(description="what it does")
    minimum: int | None = Field(description="the least that it may be; null: no bound")
    maximum: int | None = Field(description="the most that it may be; null: no bound")
    example: str | int | float | bool | None = Field(description="a value to try")


class QueryColumn(Shape):
    """What a query answers, row by row."""

    name: str = Field(description="its name")
    description: str = Field(description="what stands in it")


class QueryItem(Shape):
    """A question."""

    model_config = example(**_SHOWN.describe())
    name: str = Field(description="its name")
    group: str = Field(description="what it is about")
    title: str = Field(description="the question itself")
    notes: str = Field(description="what to know about the answer")
    parameters: list[QueryParameter] = Field(description="what it is told")
    columns: list[QueryColumn] = Field(description="what it answers")
    example: str = Field(description="parameters as a Neo4j browser wants them, a line each")


class QueryList(Shape):
    """Every question of the library."""

    model_config = example(items=[shown(QueryItem)])
    items: list[QueryItem] = Field(description="the questions, by group")


class QueryText(QueryItem):
    """A question with its statement."""

    model_config = example(**shown(QueryItem), cypher=_SHOWN.cypher)
    cypher: str = Field(description="to be pasted into any Neo4j browser")


class QueryRun(BaseModel):
    """A question asked."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"params": {"limit": 5}}]})
    params: dict[str, Any] = Field(
        default_factory=dict, description="by name; what is left out has its default"
    )


class QueryAnswer(Shape):
    """What was found."""

    model_config = example(
        columns=[column.name for column in _SHOWN.columns],
        rows=[["broker-3", 27, 64, 9], ["broker-9", 15, 31, 4]],
        seconds=0.004,
        truncated=False,
    )
    columns: list[str] = Field(description="the names of the columns")
    rows: list[list[Any]] = Field(description="the rows, each with a value a column")
    seconds: float = Field(description="until the database had answered")
    truncated: bool = Field(description="whether there are more rows than this installation sends")


@router.get("/queries")
async def list_queries() -> QueryList:
    """Every question the library can answer, by group."""
    return QueryList(items=[QueryItem(**query.describe()) for query in queries().values()])


@router.get("/queries/{query}")
async def read_query(query: QueryName) -> QueryText:
    """One question, with its statement in Cypher."""
    found = find_query(query)
    return QueryText(**found.describe(), cypher=found.cypher)


@router.post("/queries/{query}/run", responses=problems(504))
async def run(query: QueryName, asked: QueryRun, manager: TheManager) -> QueryAnswer:
    """Ask it of the database: for reading only, for a limited time, with a limited number of rows."""
    settings = manager.settings
    answer = await run_query(
        manager.database,
        find_query(query),
        asked.params,
        seconds=settings.query_seconds,
        rows=settings.query_rows,
    )
    return QueryAnswer(
        columns=answer.columns, rows=answer.rows, seconds=answer.seconds, truncated=answer.truncated
    )
