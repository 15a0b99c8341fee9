"""The papers' hand-made instances, whose numbers of links are known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from algorithms import Interests, LiveOverlay, Policy, build
from algorithms.live import join
from backend.experiments.sweep import Point, Record, Size, Statement, Sweep

Topics = dict[str, list[str]]


def cuboid(k: int, m: int) -> Topics:
    """gm 6.3: topics are the cells of 2 x (2^k - 1) x m; brokers are planes, slabs of 1, 2, 4, .. columns, and layers."""
    cells = {f"{i}.{j:03d}.{n:02d}": (i, j, n) for i, j, n in product(range(2), range(2**k - 1), range(m))}
    planes = {f"plane{i}": [t for t, cell in cells.items() if cell[0] == i] for i in range(2)}
    slabs = {
        f"slab{p}": [t for t, cell in cells.items() if 2**p <= cell[1] + 1 < 2 ** (p + 1)] for p in range(k)
    }
    layers = {f"layer{n:02d}": [t for t, cell in cells.items() if cell[2] == n] for n in range(m)}
    return planes | slabs | layers


def topic_a_pair(n: int) -> Topics:
    """dc IV: broker i has the topics (i, j) and (j, i) for every j."""
    numbers = range(n)
    return {
        f"v{i:02d}": sorted({f"{i}-{j}" for j in numbers} | {f"{j}-{i}" for j in numbers}) for i in numbers
    }


def with_everything(topics: Topics) -> Topics:
    """One more broker that has every topic."""
    return topics | {"v_all": sorted({topic for its in topics.values() for topic in its})}


def lemma_1(n: int) -> Topics:
    """low Lemma 1, as printed: v1 has every topic (i, j), the others those with their own number."""
    pairs = list(product(range(1, n + 1), repeat=2))
    return {f"v{v:02d}": [f"{i}-{j}" for i, j in pairs if v in (1, i, j)] for v in range(1, n + 1)}


def staircase(n: int) -> Topics:
    """low Lemma 5: broker i has the first i topics."""
    return {f"v{i:02d}": [f"t{j:02d}" for j in range(i)] for i in range(1, n + 1)}


def staircase_with_sets(n: int) -> Topics:
    """low Lemma 6: the staircase, each step with a set of n^3 (n - i + 1) topics that it shares with u_i alone."""
    own = {i: [f"s{i:02d}.{j:05d}" for j in range(n**3 * (n - i + 1))] for i in range(1, n + 1)}
    steps = {f"v{i:02d}": [*staircase(n)[f"v{i:02d}"], *its] for i, its in own.items()}
    return steps | {f"u{i:02d}": its for i, its in own.items()}


def case_seven(n: int) -> Topics:
    """low 6.4, case VII: two brokers with n topics x, one of them with z, one with z alone, the rest with x1 and y."""
    many = [f"x{i:03d}" for i in range(1, n + 1)]
    return {"v1": [*many, "z"], "v2": many, "w": ["z"]} | {
        f"u{i:03d}": ["x001", "y"] for i in range(1, n - 2)
    }


def one_topic(m: int) -> Topics:
    """ktco VII: m subscribers of one topic."""
    return {f"v{i:02d}": ["t"] for i in range(m)}


def _links(topics: Topics, algorithm: str, **params: Any) -> int:
    return len(build(algorithm, Interests.from_mapping(topics), **params).links)


def _join_complete(n: int) -> int:
    """Links after v_all joined the complete overlay of dc IV, nothing torn down; those of v_all not counted."""
    before = topic_a_pair(n)
    live = LiveOverlay(build("gm", Interests.from_mapping(before)), Policy("shadow"))
    live.change(join("v_all", with_everything(before)["v_all"]))
    return live.links - live.degree_of("v_all")


CASES: dict[str, tuple[str, str, Callable[[], int], int, str]] = {
    "tight": ("gm 6.3", "GM on the cuboid, k = 3, m = 4 (2k + km; 2m + 2k = 14 would do)", lambda: _links(cuboid(3, 4), "gm"), 18, ""),
    "tight-5": ("gm 6.3", "GM on the cuboid, k = 4, m = 5 (2k + km; 2m + 2k = 18 would do)", lambda: _links(cuboid(4, 5), "gm"), 28, ""),
    "pairs": ("dc IV", "GM, a topic a pair, 10 brokers (n(n-1)/2)", lambda: _links(topic_a_pair(10), "gm"), 45, ""),
    "pairs-join": ("dc IV", "of them kept when a broker with every topic joins", lambda: _join_complete(10), 45, ""),
    "pairs-all": ("dc IV", "GM from scratch with that broker (n)", lambda: _links(with_everything(topic_a_pair(10)), "gm"), 10, ""),
    "lemma-1": (
        "low Lemma 1",
        "MinMax-ODA, 4 brokers (n(n-2)/2)",
        lambda: _links(lemma_1(4), "minmax-oda"),
        4,
        "the printed instance needs all n - 1 links of v1, which shares the topics (1, i), (i, 1) and (i, i) with v_i"
        " alone; n - 2 matchings give it n - 2",
    ),
    "lemma-1-12": (
        "low Lemma 1",
        "MinMax-ODA, 12 brokers (n(n-2)/2)",
        lambda: _links(lemma_1(12), "minmax-oda"),
        60,
        "the printed count needs links that join no components, which we never add: two brokers that are both linked to"
        " v1 share no unconnected topic",
    ),
    "lemma-1-gm": ("low Lemma 1", "GM, 12 brokers (n - 1, the fewest)", lambda: _links(lemma_1(12), "gm"), 11, ""),
    "lemma-5": ("low Lemma 5", "CD-ODA, 9 brokers (all n(n-1)/2)", lambda: _links(staircase(9), "cd-oda"), 36, ""),
    "lemma-6-i": ("low Lemma 6", "CD-ODA-I, 2 x 5 brokers (n(n-1)/2 + n)", lambda: _links(staircase_with_sets(5), "cd-oda-i"), 15, ""),
    "lemma-6-ii": ("low Lemma 6", "CD-ODA-II, 2 x 5 brokers (n(n-1)/2 + n)", lambda: _links(staircase_with_sets(5), "cd-oda-ii"), 15, ""),
    "case-7": ("low 6.4", "2D-ODA, case VII, 20 brokers (n, the fewest)", lambda: _links(case_seven(20), "2d-oda"), 20, ""),
    "case-7-cd": ("low 6.4", "CD-ODA, case VII, 20 brokers (2n - 5)", lambda: _links(case_seven(20), "cd-oda"), 35, ""),
    "case-7-i": ("low 6.4", "CD-ODA-I, case VII, 20 brokers (2n - 5)", lambda: _links(case_seven(20), "cd-oda-i"), 35, ""),
    "case-7-ii": ("low 6.4", "CD-ODA-II, case VII, 20 brokers (2n - 5)", lambda: _links(case_seven(20), "cd-oda-ii"), 35, ""),
    "harary-4": ("ktco VII", "HararyPT, k = 4, 11 subscribers of one topic (km/2)", lambda: _links(one_topic(11), "hararypt", k=4), 22, ""),
    "harary-5": (
        "ktco VII",
        "HararyPT, k = 5, 11 subscribers of one topic (km/2, rounded up)",
        lambda: _links(one_topic(11), "hararypt", k=5, even_if_cheaper=False),
        28,
        "",
    ),
}  # fmt: skip


def _points(size: Size) -> list[Point]:
    return [{"instance": name} for name in CASES]


def _measure(point: Point) -> list[Record]:
    return [{"series": "links", "links": CASES[point["instance"]][2]()}]


SWEEPS = (
    Sweep(
        "examples",
        "Hand-made instances",
        "gm, dc, low and ktco",
        "Instances that the papers' proofs construct; the number of links is known exactly.",
        _points,
        _measure,
        series=("links",),
    ),
)

STATEMENTS = tuple(
    Statement(
        paper,
        text,
        printed,
        "examples",
        lambda table, name=name: table.where(instance=name).mean("links"),  # type: ignore[misc]
        kind="exactly",
        form="{:.0f}",
        reason=reason,
    )
    for name, (paper, text, _, printed, reason) in CASES.items()
)
