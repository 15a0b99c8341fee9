"""``python -m spark.rebuild``: one bulk rebuild, Parquet to Parquet or from Neo4j back into it.

Also ``spark-submit .../spark/rebuild.py``, with the same options. Exit codes: 0 done, 1 the job failed or was called off,
2 bad input; one line on stderr says why. With ``--neo4j`` user and password come from NEO4J_USER and NEO4J_PASSWORD,
progress and report go into the Rebuild record, whose state stays the manager's.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from algorithms.bulk import BULK, parse_bulk
from algorithms.errors import BadInput, Cancelled
from spark import bulk, graph, tables, verify
from spark.command import chosen_options, open_session, run, session_options
from spark.errors import JobFailed, NotConnected
from spark.ids import code
from spark.parent import end_with
from spark.stages import Stages


def _parameters(command: Callable[..., None]) -> Callable[..., None]:
    """An option for every parameter that some bulk algorithm takes."""
    known = {parameter.name: parameter for taken in BULK.values() for parameter in taken}
    for name, parameter in sorted(known.items(), reverse=True):
        words = f" ({' or '.join(parameter.words)})" if parameter.words else ""
        command = click.option(
            f"--{name.replace('_', '-')}", name, default=None, metavar="VALUE", help=parameter.help + words
        )(command)
    return command


@click.command()
@click.option("--algorithm", required=True, metavar="NAME", help=", ".join(BULK))
@click.option("--interests", metavar="PATH", help="Parquet with the columns broker and topic.")
@click.option("--links", metavar="PATH", help="Where the links go, as Parquet.")
@click.option("--neo4j", metavar="URI", help="The database with the live overlay.")
@click.option("--rebuild", metavar="ID", help="The Rebuild record to work for.")
@click.option("--verify", "verified", is_flag=True, help="Prove that the links are a (k)TCO.")
@click.option("--parent", metavar="PID", type=int, help="End when this process, which started the job, does.")
@click.option("--report", metavar="FILE", type=click.Path(path_type=Path), help="Write the report as JSON.")
@session_options
@_parameters
def main(
    algorithm: str,
    interests: str | None,
    links: str | None,
    neo4j: str | None,
    rebuild: str | None,
    verified: bool,
    parent: int | None,
    report: Path | None,
    as_json: bool,
    master: str | None,
    memory: str | None,
    jars: str | None,
    log_level: str | None,
    ui: bool,
    **given: str | None,
) -> None:
    """Rebuild an overlay in bulk on Spark."""
    started = time.monotonic()
    if parent is not None:
        end_with(parent)
    params = parse_bulk(algorithm, {name: value for name, value in given.items() if value is not None})
    options = chosen_options(master, memory, jars, log_level, ui)
    if report:
        _check_report(report)
    if interests and links and not (neo4j or rebuild):
        tables.check_links_path(links)
        with open_session(options.for_files()) as session:
            ready = time.monotonic() - started
            figures = rebuild_files(
                session, algorithm, params, interests, links, verified=verified, ready=ready
            )
    elif neo4j and rebuild and not (interests or links):
        with graph.RebuildRecord(_access(neo4j), rebuild) as record:
            record.check()
            record.tell("starting", 0.0)
            with open_session(options) as session:
                ready = time.monotonic() - started
                figures = rebuild_graph(session, record, algorithm, params, verified=verified, ready=ready)
    else:
        raise BadInput("source", None, "give --interests and --links, or --neo4j and --rebuild, and not both")
    click.echo(json.dumps(figures) if as_json else _sentence(figures))
    if report:
        _write_report(report, figures)


@click.command()
@click.option("--interests", required=True, metavar="PATH", help="Parquet with the columns broker and topic.")
@click.option("--links", required=True, metavar="PATH", help="Parquet with broker_a and broker_b.")
@click.option("--k", default=1, metavar="K", help="Survives the failure of any k - 1 brokers  [default: 1]")
@session_options
def verify_command(
    interests: str,
    links: str,
    k: int,
    as_json: bool,
    master: str | None,
    memory: str | None,
    jars: str | None,
    log_level: str | None,
    ui: bool,
) -> None:
    """Is it a (k)TCO? Parquet against Parquet, as a distributed job."""

    if k < 1:
        raise BadInput("k", k, "must be a whole number, at least 1")
    with open_session(chosen_options(master, memory, jars, log_level, ui).for_files()) as session:
        coded = code(tables.read_interests(session, interests))
        given = verify.dense_links(coded, tables.read_links(session, links))
        found = verify.verdict(coded, given, k)
    if as_json:
        click.echo(json.dumps({"k": k, "good": found.good, "below": found.below, "why": found.examples}))
    if not found.good:
        raise NotConnected(_shortfall(found))
    if not as_json:
        click.echo(f"every topic is {'' if k == 1 else f'{k}-'}connected")


def rebuild_files(
    session: SparkSession,
    algorithm: str,
    params: dict[str, Any],
    interests: str,
    links: str,
    *,
    verified: bool = False,
    ready: float = 0.0,
) -> dict[str, Any]:
    """Parquet to Parquet: interests in, links out; the report. ``ready``: seconds until there was a session."""
    tables.check_links_path(links)
    tables.check_apart(session, interests, links)
    tables.check_writable(session, links)
    stages = Stages(session, {})
    built = bulk.build(tables.read_interests(session, interests), algorithm, params, stages)
    if verified:
        _verify(built, algorithm, params, stages)
    with stages.stage("writing"):
        tables.write_links(built.links, links)
    return _report(algorithm, params, built, stages, verified, ready)


def rebuild_graph(
    session: SparkSession,
    record: graph.RebuildRecord,
    algorithm: str,
    params: dict[str, Any],
    *,
    verified: bool = False,
    ready: float = 0.0,
) -> dict[str, Any]:
    """The live overlay's interests in, candidates of a rebuild out; the report, which is recorded too.

    A job that fails, or is called off, takes back what it wrote.
    """
    called_off = writing = False
    given_up: str | None = None

    def tell(stage: str, share: float) -> None:
        nonlocal called_off, given_up
        called_off = not record.tell(stage, share) or called_off
        given_up = record.standstill() or given_up
        if called_off or given_up:
            session.sparkContext.cancelAllJobs()

    stages = Stages(session, {**bulk.SHARES, "writing": 4.0}, tell)
    try:
        before, brokers = record.overlay()
        interests = graph.read_interests(session, record.access, brokers)
        built = bulk.build(interests, algorithm, params, stages, topics_may_be_null=True)
        after, _ = record.overlay()
        if verified:
            _verify(built, algorithm, params, stages)
        writing = True
        with stages.stage("writing"):
            with record.writing():
                graph.write_candidates(built.links, record.access, record.rebuild)
            written = _written(built, after, session, record)
        record.check()
        report = _report(algorithm, params, built, stages, verified, ready) | {
            "version_before": before,
            "version_after": after,
            "candidates": written,
            "departed": int(built.figures["links"]) - written,
        }
        record.report(report)
        record.tell("done", 1.0)
    except BaseException:
        if writing:
            # What is still being written would come back after it was taken away.
            with contextlib.suppress(PySparkException, Py4JError, OSError):
                session.sparkContext.cancelAllJobs()
            record.delete_candidates()
        if called_off:
            raise Cancelled(f"rebuild {record.rebuild} was called off") from None
        if given_up:
            raise JobFailed(given_up) from None
        raise
    return report


def _written(built: bulk.Built, version: int, session: SparkSession, record: graph.RebuildRecord) -> int:
    """How many candidates there are: fewer than links where brokers have left, and never more.

    Where the overlay has not moved since the version before the writing, any other gap is a fault. In one that moves,
    brokers leave and come back between two looks: no count proves anything, and activation fits what is there.
    """
    links = int(built.figures["links"])
    written = record.candidates()
    if written > links:
        raise JobFailed(
            f"{written} candidates are in the database where {links} links were made: "
            f"something else writes for rebuild {record.rebuild} too"
        )
    if written < links:
        record.check()
        gone = graph.departed(built.links, session, record.access)
        written = record.candidates()
        if links - gone > written and record.overlay()[0] == version:
            raise JobFailed(
                f"{written} candidates are in the database where {links} links were made, "
                f"and {gone} of them have a broker that left"
            )
    return written


def _verify(built: bulk.Built, algorithm: str, params: dict[str, Any], stages: Stages) -> None:
    with stages.stage("verifying"):
        dense = verify.dense_links(built.coded, built.links)
        found = verify.verdict(built.coded, dense, bulk.connectivity(algorithm, params))
    if not found.good:
        raise NotConnected(_shortfall(found))


def _shortfall(found: verify.Verdict) -> str:
    what = "connected" if found.k == 1 else f"{found.k}-connected"
    return f"{found.below} topics are not {what}: {'; '.join(found.examples[:3])}"


def _report(
    algorithm: str,
    params: dict[str, Any],
    built: bulk.Built,
    stages: Stages,
    verified: bool,
    ready: float,
) -> dict[str, Any]:
    return {
        "engine": "spark",
        "algorithm": algorithm,
        "params": params,
        **built.figures,
        "verified": verified,
        "seconds": {
            "session": round(ready, 3),
            **stages.seconds,
            "whole": round(sum(stages.seconds.values()), 3),
        },
    }


def _sentence(report: dict[str, Any]) -> str:
    parts = f" in {report['parts']} parts" if "parts" in report else ""
    return (
        f"{report['algorithm']}{parts}: {report['links']:,} links for {report['brokers']:,} brokers and "
        f"{report['topics']:,} topics, degree {report['average_degree']:.2f} on average and "
        f"{report['max_degree']} at most, in {report['seconds']['whole']:.1f} s"
    )


def _check_report(report: Path) -> None:
    """Refused before the work rather than after it."""
    if report.is_dir():
        raise BadInput("report", str(report), "this is a folder")
    if not report.parent.is_dir():
        raise BadInput("report", str(report), "there is no such folder")
    if not os.access(report if report.exists() else report.parent, os.W_OK):
        raise BadInput("report", str(report), "nothing can be written there")


def _write_report(report: Path, figures: dict[str, Any]) -> None:
    try:
        report.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise JobFailed(
            f"the links are written, but not their report: {report}: {error.strerror or error}"
        ) from None


def _access(uri: str) -> graph.Access:
    password = os.environ.get("NEO4J_PASSWORD")
    if not password:
        raise BadInput("NEO4J_PASSWORD", password, "must be set to the password of the database")
    return graph.Access(uri, os.environ.get("NEO4J_USER", "neo4j"), password)


if __name__ == "__main__":
    run(main)
