"""The papers' hand-made instances, whose answers are known; brokers are named so that id order is the papers' order."""

from __future__ import annotations

from algorithms import Interests


def tight_for_gm(k: int = 3, m: int = 4) -> Interests:
    """gm section 6.3: GM takes 2k + km links, 2m + 2k suffice (m > 2).

    Topics are a cuboid of 2 x (2^k - 1) x m. Two brokers take a plane each of the first dimension, m brokers one each
    of the third; the 2 x (2^k - 1) columns are split into sets of 2, 4, .., 2^k among k brokers, half of each set in
    either plane.
    """
    long = 2**k - 1
    cells = [(i, j, layer) for i in range(2) for j in range(long) for layer in range(m)]
    interests = {f"two{i}": [_name(c) for c in cells if c[0] == i] for i in range(2)}
    first = 0
    for size in range(k):
        columns = range(first, first + 2**size)
        interests[f"k{size}"] = [_name(c) for c in cells if c[1] in columns]
        first += 2**size
    interests |= {f"m{layer}": [_name(c) for c in cells if c[2] == layer] for layer in range(m)}
    return Interests.from_mapping(interests)


def one_topic_a_pair(n: int, *, with_all: bool = False) -> Interests:
    """dc section IV: broker i has t_ij and t_ji for every j; ``v_all`` has every topic.

    Without v_all every pair needs its link, n(n-1)/2 in all; built from scratch with v_all, n links suffice.
    """
    interests = {
        f"v{i:02d}": [f"t{i:02d}.{j:02d}" for j in range(n)] + [f"t{j:02d}.{i:02d}" for j in range(n)]
        for i in range(n)
    }
    if with_all:
        interests["v_all"] = [f"t{i:02d}.{j:02d}" for i in range(n) for j in range(n)]
    return Interests.from_mapping(interests)


def lemma_1(n: int, *, as_printed: bool = False) -> Interests:
    """low Lemma 1, n even: MinMax-ODA takes about n(n-2)/2 links, n - 1 suffice.

    v_1 has every topic; v_i, i >= 2, has t_ij and t_ji for every j. As printed, j = 1 and j = i give topics that v_i
    shares with v_1 alone, which force the link (v_1, v_i); they are left out by default. The lemma counts n - 2 perfect
    matchings. That is exact for n = 4. For larger n it needs links of contribution 0 (two brokers linked to v_1 are
    joined already in both their topics), and such links are never added: the count stays between n^2/4 and
    n(n-2)/2 + 1.
    """
    every = range(1, n + 1)
    topics = [(i, j) for i in every for j in every if as_printed or (i != j and min(i, j) > 1)]
    interests = {f"v{i:02d}": [f"t{a:02d}.{b:02d}" for a, b in topics if i in (1, a, b)] for i in every}
    return Interests.from_mapping(interests)


def lemma_5(n: int) -> Interests:
    """low Lemma 5: broker i has t_1..t_i; CD-ODA can end in the complete graph, n - 1 links suffice."""
    return Interests.from_mapping(
        {f"v{i:02d}": [f"t{j:02d}" for j in range(1, i + 1)] for i in range(1, n + 1)}
    )


def lemma_6(n: int) -> Interests:
    """low Lemma 6, 2n brokers: CD-ODA-I and -II take n(n-1)/2 + n links, 2n - 1 suffice.

    v_i has t_1..t_i and the set S_i of n^3 (n - i + 1) topics; u_i has S_i alone.
    """
    own = {i: [f"s{i:02d}.{j:06d}" for j in range(n**3 * (n - i + 1))] for i in range(1, n + 1)}
    interests = {f"v{i:02d}": [f"t{j:02d}" for j in range(1, i + 1)] + own[i] for i in own}
    return Interests.from_mapping(interests | {f"u{i:02d}": own[i] for i in own})


def case_vii(n: int) -> Interests:
    """low section 6.4, case VII, n brokers: 2D-ODA takes n links, the best possible, CD-ODA, -I and -II 2n - 5."""
    many = [f"x{i:03d}" for i in range(1, n + 1)]
    interests = {"v1": [*many, "z"], "v2": many, "w": ["z"]}
    return Interests.from_mapping(interests | {f"u{i:03d}": ["x001", "y"] for i in range(1, n - 2)})


def _name(cell: tuple[int, int, int]) -> str:
    return ".".join(f"{place:02d}" for place in cell)
