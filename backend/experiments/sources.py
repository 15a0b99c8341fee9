"""Where real interests come from: the folder of their files, which relation is read as publish/subscribe, under which terms."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from backend.errors import BadValue

DATA = "TOPICWEAVE_DATA"
"""The environment variable that names the folder, for experiments and benchmarks alike."""
SUFFIX = ".csv.gz"


class Source(NamedTuple):
    """A public relation that is read as brokers and their topics."""

    reading: str
    origin: str
    """The repository, the commit and the file."""
    terms: str
    """As the repository states them."""


_USERS = "benedekrozemberczki/datasets, from its history"
SOURCES = {
    "autoware": Source(
        "a ROS 2 node of the Autoware driving stack, and the topics it publishes or subscribes to",
        "iwatake2222/dear_ros_node_viewer at 761e4e2, sample/architecture_autoware.yaml",
        "Apache-2.0",
    ),
    "ha_codeowners": Source(
        "a code owner, and the integrations of Home Assistant it owns",
        "home-assistant/core at 702a9cb, CODEOWNERS",
        "Apache-2.0",
    ),
    "ha_git_authors": Source(
        "an author of commits, and the integrations of Home Assistant it ever touched",
        "home-assistant/core at 702a9cb, the history of homeassistant/components; bots left out",
        "Apache-2.0",
    ),
    "dt_codeowners": Source(
        "an owner of type definitions, and its packages",
        "DefinitelyTyped/DefinitelyTyped at 25db213, .github/CODEOWNERS",
        "MIT",
    ),
    "lastfm_asia_mutual_follow": Source(
        "a user of LastFM, and the feeds of those it follows and is followed by",
        f"{_USERS}, blob 1e8268d",
        "MIT",
    ),
    "twitter_top100": Source(
        "a follower, and which of 100 accounts it follows",
        "thomasp85/hierarchicalSets at 46649d9, data/twitter.rda, cut from SNAP's ego-Twitter",
        "MIT for the package; none stated by SNAP",
    ),
    "github_mutual_follow": Source(
        "a developer, and the feeds of those it follows and is followed by",
        f"{_USERS}, blob 49bb6e5",
        "MIT",
    ),
    "deezer_hu_genres": Source(
        "a listener in Hungary, and the genres it likes",
        f"{_USERS}, blob 5d75f73",
        "MIT",
    ),
}


def data_folder() -> Path | None:
    """The folder of real interests, if one is named."""
    given = os.environ.get(DATA)
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        raise BadValue(f"{DATA}: must be a folder of {SUFFIX} files (got {given!r})", field=DATA)
    return folder


def data_file(name: str) -> Path | None:
    """The file of these interests, or None where no folder is named or it holds none of that name."""
    folder = data_folder()
    found = folder / f"{name}{SUFFIX}" if folder else None
    return found if found and found.is_file() else None


def data_files() -> list[str]:
    """The names of all files of interests in the folder; lists of names beside them are none."""
    folder = data_folder()
    names = sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}")) if folder else []
    return [name for name in names if "named" not in name]


def left_out(names: Iterable[str]) -> str:
    """One line about the files that a table does without."""
    where = "names no folder" if data_folder() is None else "has no such file"
    return f"left out, {DATA} {where}: {', '.join(dict.fromkeys(names))}"


def sources_table(names: Iterable[str]) -> str:
    """A row for each of the named ones; whoever has files of their own knows where they come from."""
    lines = ["| interests | broker, and its topics | source | terms |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {' | '.join(SOURCES[name])} |" for name in names if name in SOURCES]
    return "\n".join(lines)
