"""The shapes of imports, merges and restores: the job, and what each kind came to."""

from __future__ import annotations

from backend.api.answers.shape import Progress, Shape, example, shown
from backend.imports.jobs import State
from backend.imports.request import Kind
from backend.record import Pair
from backend.times import Moment


class Degrees(Shape):
    """Links and degrees of an overlay."""

    links: int
    """How many links there are."""
    average_degree: float
    """Links a broker."""
    max_degree: int
    """The most links that one broker has."""


class FreshDegrees(Degrees):
    """Links and degrees of what an algorithm would build."""

    algorithm: str
    """The algorithm's name."""


class ApartTopic(Shape):
    """A topic that the links of the file leave apart."""

    topic: str
    """The topic's name."""
    subscribers: int
    """How many brokers subscribe to it."""
    components: int
    """In how many topic components."""


class WeakTopic(Shape):
    """A topic that is less connected than the policy says, and what shows it."""

    topic: str
    """The topic's name."""
    separator: list[str]
    """The brokers whose failure parts the two; empty where they are apart already, or only lack their link."""
    parted: Pair
    """Two of its subscribers."""
    missing_link: bool
    """Whether the topic is so small that it must be a clique, and these two are not linked."""


class Hub(Shape):
    """One of the brokers of the highest degree."""

    broker: str
    """The broker's id."""
    degree: int
    """How many links it has in the file."""
    degree_in_fresh: int
    """How many it would have in a fresh build."""


class Score(Degrees):
    """What the links of a file are worth, as they are."""

    k: int
    """The policy's k, which they are judged by."""
    tco: bool
    """Whether every topic is connected."""
    ktco: bool
    """Whether every topic is k-connected."""
    topics_apart: int
    """How many topics are not connected."""
    topics_apart_first: list[ApartTopic]
    """Some of those, the ones in most pieces first."""
    topics_below_k: int
    """How many topics are less connected than the policy's k asks for."""
    topics_below_k_first: list[WeakTopic]
    """Some of those."""
    hubs: list[Hub]
    """The brokers of the highest degrees."""
    fresh: FreshDegrees
    """What the policy's algorithm, or the one that was asked for, would build."""
    links_to_fresh: float | None
    """How many times as many links as that; null where that has none."""
    published: FreshDegrees
    """What an algorithm of the papers would build."""
    links_to_published: float | None
    """How many times as many links as that; null where that has none."""


class Adoption(Shape):
    """What became of links that exist already."""

    score: Score
    """What they are worth."""
    kept: int
    """How many of them are kept."""
    opened: int
    """How many more links it takes until every topic is connected as the policy says."""
    opened_first: list[Pair]
    """Some of those."""
    left_out: int
    """How many of them are left out, because their ends share no topic."""
    left_out_first: list[Pair]
    """Some of those."""


class ImportSeconds(Shape):
    """How long the parts of an import took."""

    read: float
    """Reading the files."""
    build: float
    """Building the links, or judging and completing those that exist."""
    store: float | None = None
    """Storing all of it; not there where nothing was stored."""


class RowCounts(Shape):
    """What was read of the interests."""

    brokers: int
    """How many brokers the interests have."""
    topics: int
    """How many topics they have."""
    subscriptions: int
    """How many subscriptions they have."""
    duplicates: int
    """How many rows said again what another one had said."""


class Imported(RowCounts, Degrees):
    """An import into an empty overlay."""

    model_config = example(
        brokers=52,
        topics=339,
        subscriptions=1160,
        duplicates=0,
        links=218,
        average_degree=8.384615384615385,
        max_degree=27,
        algorithm="weave",
        adopted=None,
        version=1,
        seconds={"read": 0.02, "build": 0.11, "store": 0.7},
    )
    algorithm: str
    """What the links were built by, or those of the file were scored against."""
    adopted: Adoption | None
    """What became of the links of the file; null where there were none."""
    version: int | None
    """The version that it made; null where nothing was stored."""
    seconds: ImportSeconds
    """How long it took."""


class Joined(RowCounts):
    """An import into a living overlay, as far as it came."""

    joined: int
    """How many brokers joined."""
    changed: int
    """How many brokers have other topics now."""
    unchanged: int
    """How many brokers had these topics already."""
    opened: int
    """How many links were opened."""
    closed: int
    """How many links were closed."""
    first_version: int | None
    """The first version that it made; null where there was nothing to change."""
    version: int
    """The last version that it made, or the one that it found."""


class Merged(RowCounts):
    """A second federation joined to this one; the counts are of the second one."""

    links_brought: int
    """How many links of its own it keeps."""
    completed: int
    """How many links were opened within it, until its topics were connected as the policy says."""
    left_out: int
    """How many links of the file were left out, because their ends share no topic."""
    left_out_first: list[Pair]
    """Some of those."""
    across: int
    """How many links were opened between the two."""
    version: int
    """The version that it made."""


class Restored(Shape):
    """A backup restored into an empty overlay."""

    version: int
    """The overlay's version, as it was when the backup was taken."""
    brokers: int
    """How many brokers there are."""
    topics: int
    """How many topics have a subscriber."""
    subscriptions: int
    """How many subscriptions there are."""
    links: int
    """How many links are open."""
    changes: int
    """How many changes of the history came back."""
    keys: int
    """How many keys came back."""
    keys_left_out: list[str]
    """The names of keys that did not, because a key of that name works here already."""


class ImportJob(Shape):
    """An import, a merge or a restore."""

    model_config = example(
        id="0b3e0c5e-53a5-4a53-9c5c-5a6a1d0c9f0e",
        kind="import",
        state="done",
        actor="ops",
        created_at="2026-11-16T19:20:01.123Z",
        progress={"stage": "done", "share": 1.0},
        result=shown(Imported),
        error=None,
        problem=None,
    )
    id: str
    """The job's id, for `GET /v1/imports/{id}`."""
    kind: Kind
    """What it does."""
    state: State
    """Where it is between the request and its end."""
    actor: str
    """Whose key asked for it."""
    created_at: Moment
    """When it was asked for."""
    progress: Progress
    """How far it is."""
    result: Imported | Joined | Merged | Restored | None
    """What it came to; of a failed import into a living overlay: what was done before it failed."""
    error: str | None
    """Why it failed; null while all is well."""
    problem: str | None
    """What kind of error that was: the slug that ends a problem's `type`, like `bad-value`."""
