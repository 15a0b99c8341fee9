"""The fewest links of any topic-connected overlay of tiny interests, found and proven by a solver.

One binary a pair of brokers that share a topic; a topic is connected if and only if some link crosses every way to part
its subscribers in two. That is 2^(n_t - 1) - 1 constraints a topic: for a dozen subscribers at the most.
"""

from __future__ import annotations

from itertools import combinations

from ortools.sat.python import cp_model

from algorithms import Interests


def fewest_links(interests: Interests) -> int:
    """How many links an optimal overlay has."""
    model = cp_model.CpModel()
    linked: dict[tuple[int, int], cp_model.IntVar] = {}
    for topic in range(len(interests.topics)):
        members = interests.subscriber_indices(topic).tolist()
        assert len(members) <= 12, "too many ways to part a topic"
        for v, w in combinations(members, 2):
            if (v, w) not in linked:
                linked[v, w] = model.new_bool_var(f"{v}-{w}")
        # Implied by the ways to part it, and what lets the solver finish: a tree of n brokers has n - 1 links.
        model.add(sum(linked[pair] for pair in combinations(members, 2)) >= len(members) - 1)
        for side in range(2 ** (len(members) - 1) - 1):
            inside = {members[0], *(v for n, v in enumerate(members[1:]) if side >> n & 1)}
            model.add_bool_or(
                linked[v, w] for v, w in combinations(members, 2) if (v in inside) != (w in inside)
            )
    model.minimize(sum(linked.values()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)
