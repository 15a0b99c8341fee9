"""Every algorithm on every file of real interests, each overlay judged: links, degrees, seconds, and what it is.

Algorithms that take k are run for each that they take of 1, 2 and 3. Topics are judged by igraph, each by itself: connected,
2-connected; k = 3 by our own flows, as igraph's take hours on topics of thousands.

``python -m benchmarks.files [NAME ...]`` runs the files or algorithms named, else all of them; the folder of real
interests is TOPICWEAVE_DATA. The exit code is 1 if any overlay is not what its algorithm guarantees.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from typing import Any

from algorithms import Algorithm, Interests, Overlay, algorithms, build
from algorithms.files import read_interests
from backend.experiments.sources import DATA, data_file, data_files, left_out


def main() -> int:
    wanted = set(sys.argv[1:])
    sources, known = data_files(), algorithms()
    if not sources:
        print(left_out(["every file"]))
        return 0
    if wanted - set(sources) - {algorithm.name for algorithm in known}:
        sys.exit(f"no such file in the folder of {DATA} and no such algorithm: {', '.join(sorted(wanted))}")
    print("| file | algorithm | k | links | average degree | max degree | seconds | judged |")
    print("|---|---|--:|--:|--:|--:|--:|---|")
    failures = 0
    for source in sources:
        if wanted & set(sources) and source not in wanted:
            continue
        file = data_file(source)
        assert file is not None, source
        interests = read_interests(file)
        for algorithm in known:
            if wanted & {a.name for a in known} and algorithm.name not in wanted:
                continue
            failures += sum(not _row(source, interests, algorithm, asked) for asked in _asked(algorithm))
    return 1 if failures else 0


def _asked(algorithm: Algorithm) -> list[dict[str, Any]]:
    """The parameters that ask for k = 1, 2 and 3, of those that the algorithm takes; one run for one that has no k."""
    least = next((p.minimum for p in algorithm.parameters if p.name == algorithm.connects), None)
    return [{}] if least is None else [algorithm.asked_for(k) for k in (1, 2, 3) if k >= least]


def _row(source: str, interests: Interests, algorithm: Algorithm, asked: dict[str, Any]) -> bool:
    started = time.perf_counter()
    overlay = build(algorithm.name, interests, **asked)
    seconds = time.perf_counter() - started
    k = algorithm.promised_k(asked)
    good = overlay.is_ktco(k) and _judged_by_igraph(overlay, k)
    judged = ("TCO" if k == 1 else f"{k}TCO") if good else "NOT WHAT IT SHOULD BE"
    print(
        f"| {source} | {algorithm.name} | {k} | {len(overlay.links):,} | {overlay.average_degree:.2f} |"
        f" {overlay.max_degree:,} | {seconds:.2f} | {judged} |",
        flush=True,
    )
    return good


def _judged_by_igraph(overlay: Overlay, k: int) -> bool:
    graph, interests = overlay.to_igraph(), overlay.interests
    for start, end in pairwise(interests.topic_start.tolist()):
        if end - start > 1:
            topic = graph.induced_subgraph(interests.topic_brokers[start:end].tolist())
            if not (topic.is_connected() if k == 1 else topic.is_biconnected()):
                return False
    return True


if __name__ == "__main__":
    sys.exit(main())
