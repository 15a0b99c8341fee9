"""The engine: one lazy greedy loop behind GM, the merges, divide and conquer, MinMax-ODA and Low-ODA.

Three choices make an algorithm: progress (topic components, seeded as the caller likes), rule (largest contribution or
low degree) and candidates (all pairs; across groups, by seeding each group as connected; some brokers, by giving the
interests of those alone; all but the barred pairs). Links come back in the order they were accepted.
"""

from algorithms.engine.largest import connect_largest
from algorithms.engine.lowdegree import UNBOUNDED, connect_low_degree
from algorithms.engine.run import Accepted, Limits, Rows
from algorithms.engine.trees import Ties

__all__ = [
    "UNBOUNDED",
    "Accepted",
    "Limits",
    "Rows",
    "Ties",
    "connect_largest",
    "connect_low_degree",
]
