"""The analysts' query library: listed, described, run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from backend.api.dependencies import TheManager
from backend.api.problems import problems
from backend.queries import find_query, run_query
from cypher.library import queries

router = APIRouter(tags=["queries"])

QueryName = Annotated[
    str, Path(description="the query's name, as `GET /v1/queries` lists it", examples=["hubs"])
]


class QueryParameter(BaseModel):
    """What a query is told."""

    name: str
    type: Literal["string", "integer", "number", "boolean"]
    default: str | int | float | bool | None = Field(description="null: it has to be given")
    required: bool
    description: str
    minimum: int | None
    maximum: int | None
    example: str | int | float | bool | None


class QueryColumn(BaseModel):
    """What a query answers, row by row."""

    name: str
    description: str


class QueryItem(BaseModel):
    """A question."""

    name: str
    group: str
    title: str = Field(description="the question itself")
    notes: str = Field(description="what to know about the answer")
    parameters: list[QueryParameter]
    columns: list[QueryColumn]
    example: str = Field(description="parameters as a Neo4j browser wants them, a line each")


class QueryList(BaseModel):
    """Every question of the library."""

    items: list[QueryItem]


class QueryText(QueryItem):
    """A question with its statement."""

    cypher: str = Field(description="to be pasted into any Neo4j browser")


class QueryRun(BaseModel):
    """A question asked."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"params": {"limit": 5}}]})
    params: dict[str, Any] = Field(
        default_factory=dict, description="by name; what is left out has its default"
    )


class QueryAnswer(BaseModel):
    """What was found."""

    columns: list[str]
    rows: list[list[Any]]
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
