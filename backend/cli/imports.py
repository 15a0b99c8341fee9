"""``import``: interests, with or without links, into the running system."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from algorithms.errors import BadFile
from backend import errors
from backend.cli.forms import AS_JSON, FILE, print_json, progress_bar
from backend.cli.remote import Remote
from backend.cli.system import home_option
from backend.errors import BadValue, NotReady, Problem

SECONDS_BETWEEN_LOOKS = 0.3
SECONDS_WITHOUT_ANSWER = 120
UPLOAD_PATIENCE = 3600.0
_KINDS = {
    kind.slug: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Problem)
}


@click.command("import")
@click.argument("interests", type=FILE)
@click.option("--links", type=FILE, metavar="LINKS", help="Links that exist already, to be adopted.")
@click.option("--build", metavar="NAME", help="The algorithm of the links  [default: the policy's]")
@click.option(
    "--score", is_flag=True, help="Only say what --links are worth and what they lack; store nothing."
)
@click.option("--merge", is_flag=True, help="Join this federation to the one that lives, by Star Merge.")
@home_option
@AS_JSON
def import_files(
    interests: Path,
    links: Path | None,
    build: str | None,
    score: bool,
    merge: bool,
    home: Path | None,
    as_json: bool,
) -> None:
    """Import interests: all at once into an empty overlay, as joins and sets of topics into a living one."""
    if links is None and (score or merge):
        raise BadValue(f"--links: needed with --{'score' if score else 'merge'}", field="links")
    if merge and (score or build):
        raise BadValue(f"--merge: goes without --{'score' if score else 'build'}", field="merge")
    fields = {"build": build, "adopt": "false" if score else None}
    with Remote.of_home(home) as api:
        job = send_files(
            api,
            "/v1/merges" if merge else "/v1/imports",
            {"interests": interests, "links": links},
            {name: value for name, value in fields.items() if value is not None},
            as_json=as_json,
        )
    result = job["result"]
    if as_json:
        print_json(job)
    elif "links_brought" in result:
        _tell_merge(result)
    elif "joined" in result:
        _tell_batches(result)
    else:
        _tell_whole(result)


def send_files(
    api: Remote, path: str, files: dict[str, Path | None], fields: dict[str, str], *, as_json: bool
) -> dict[str, Any]:
    """Send files, wait for the job, and answer with it; a job that failed is a problem."""
    with ExitStack() as opened:
        parts = {}
        for name, file in files.items():
            if file is None:
                continue
            try:
                parts[name] = (file.name, opened.enter_context(file.open("rb")))
            except OSError as error:
                raise BadFile(file, f"it cannot be read: {error.strerror}") from None
        job: dict[str, Any] = api.post(path, files=parts, data=fields, timeout=UPLOAD_PATIENCE)
    with progress_bar(job["kind"], hidden=as_json) as progress:
        job = wait_for(api, job, progress)
    if job["state"] == "failed":
        done = job["result"]
        further = f"; done before that: {done['joined']} joined, {done['changed']} changed" if done else ""
        raise _KINDS.get(str(job.get("problem")), Problem)(f"{job['error']}{further}")
    return job


def wait_for(api: Remote, job: dict[str, Any], progress: Any) -> dict[str, Any]:
    """Ask for a job until it ends."""
    silent_since: float | None = None
    while job["state"] in ("queued", "running"):
        progress(job["progress"]["share"], job["progress"]["stage"])
        time.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            job = api.get(f"/v1/imports/{job['id']}")
            silent_since = None
        except NotReady:  # Neo4j is busy, or away; the job goes on without us
            silent_since = silent_since or time.monotonic()
            if time.monotonic() - silent_since > SECONDS_WITHOUT_ANSWER:
                raise
    return job


def _tell_whole(result: dict[str, Any]) -> None:
    told = result["adopted"]
    if told:
        _tell_score(told["score"])
        click.echo(
            f"kept {told['kept']:,} links, {told['opened']:,} are missing, {told['left_out']:,} serve no topic"
            " and are left out"
        )
    if result["version"] is None:
        click.echo("nothing was stored")
        return
    repeated = f" ({result['duplicates']:,} duplicate rows)" if result["duplicates"] else ""
    click.echo(
        f"version {result['version']}: {result['brokers']:,} brokers, {result['topics']:,} topics,"
        f" {result['subscriptions']:,} subscriptions{repeated}, {result['links']:,} links,"
        f" degree {result['average_degree']:.2f} on average and {result['max_degree']} at most"
    )


def _tell_score(worth: dict[str, Any]) -> None:
    promise = "topic-connected" if worth["k"] == 1 else f"{worth['k']}-connected in every topic"
    if worth["ktco"]:
        click.echo(f"the links are {promise}")
    else:
        click.echo(f"the links are not {promise}: {worth['topics_below_k']:,} topics are not")
        for topic in worth["topics_apart_first"][:5]:
            click.echo(
                f"  {topic['topic']}: {topic['subscribers']} subscribers in {topic['components']} parts"
            )
    click.echo(
        f"{worth['links']:,} links, degree {worth['average_degree']:.2f} on average and {worth['max_degree']} at most"
    )
    for other in (worth["published"], worth["fresh"]):
        click.echo(
            f"  {other['algorithm']} needs {other['links']:,}, {other['average_degree']:.2f} and {other['max_degree']}"
        )
    for hub in worth["hubs"][:3]:
        click.echo(f"  {hub['broker']}: {hub['degree']} links ({hub['degree_in_fresh']} in the fresh build)")


def _tell_batches(result: dict[str, Any]) -> None:
    click.echo(
        f"version {result['version']}: {result['joined']:,} brokers joined, {result['changed']:,} have other topics now,"
        f" {result['unchanged']:,} were so already; {result['opened']:,} links opened, {result['closed']:,} closed"
    )


def _tell_merge(result: dict[str, Any]) -> None:
    click.echo(
        f"version {result['version']}: {result['brokers']:,} brokers with {result['links_brought']:,} links joined by"
        f" {result['across']:,} links across; {result['completed']:,} links completed theirs,"
        f" {result['left_out']:,} served no topic and were left out"
    )
