"""The engine: one lazy greedy loop behind GM, the merges, divide and conquer, MinMax-ODA and Low-ODA.

Three choices make an algorithm: progress (topic components, seeded as the caller likes), rule (largest contribution or
low degree) and candidates (all pairs; across groups, by seeding each group as connected; some brokers, by giving the
interests of those alone; all but the barred pairs). Links come back in the order they were accepted.
"""

from algorithms.engine.loop import Accepted, Limits, Ties, connect_largest, part_of

__all__ = ["Accepted", "Limits", "Ties", "connect_largest", "part_of"]
