"""Every algorithm on every file of real interests, each overlay judged: links, degrees, seconds, and what it is.

``python -m benchmarks.files [NAME ...]`` runs the files or algorithms named, else all of them; the folder of real
interests is TOPICWEAVE_DATA. The exit code is 1 if any overlay is not what its algorithm guarantees.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from algorithms import Algorithm, Interests, algorithms, build
from algorithms.files import read_interests

DATA = Path(os.environ.get("TOPICWEAVE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> int:
    wanted = set(sys.argv[1:])
    names = [path.name.removesuffix(".csv.gz") for path in sorted(DATA.glob("*.csv.gz"))]
    sources = [name for name in names if "named" not in name]
    known = algorithms()
    if wanted - set(sources) - {algorithm.name for algorithm in known}:
        sys.exit(f"no such file in {DATA} and no such algorithm: {', '.join(sorted(wanted))}")
    print("| file | algorithm | links | average degree | max degree | seconds | judged |")
    print("|---|---|--:|--:|--:|--:|---|")
    failures = 0
    for source in sources:
        if wanted & set(sources) and source not in wanted:
            continue
        interests = read_interests(DATA / f"{source}.csv.gz")
        for algorithm in known:
            if wanted & {a.name for a in known} and algorithm.name not in wanted:
                continue
            failures += not _row(source, interests, algorithm)
    return 1 if failures else 0


def _row(source: str, interests: Interests, algorithm: Algorithm) -> bool:
    started = time.perf_counter()
    overlay = build(algorithm.name, interests)
    seconds = time.perf_counter() - started
    k = _promised_k(algorithm)
    good = overlay.is_ktco(k) if k > 1 else overlay.is_tco()
    judged = ("TCO" if k == 1 else f"{k}TCO") if good else "NOT WHAT IT SHOULD BE"
    print(
        f"| {source} | {algorithm.name} | {len(overlay.links):,} | {overlay.average_degree:.2f} |"
        f" {overlay.max_degree:,} | {seconds:.2f} | {judged} |",
        flush=True,
    )
    return good


def _promised_k(algorithm: Algorithm) -> int:
    """The k that the algorithm's default parameters ask for; GM2 has no parameter and promises 2."""
    asked = [p.default for p in algorithm.parameters if p.name == "k"]
    return int(asked[0] or 1) if asked else (2 if algorithm.name == "gm2" else 1)


if __name__ == "__main__":
    sys.exit(main())
