"""Topic blocks as the progress of the greedy loop: GM2 and what is built on it.

The loop is the one of :mod:`algorithms.engine`: count a band of the best pairs, work it off lazily from the top. Its
limits, tie rules, the cutting of rows and lists and the steps of its queues (:mod:`algorithms.engine.queues`) are shared. The two
innermost loops (counting a row, weighing a pair) are not: "shares no block" is a question about two subscribers, where
"is in another component" compares two labels.
"""

from algorithms.blocks.loop import biconnect
from algorithms.blocks.parts import biconnect_part, biconnect_parts, double_stars, join_parts
from algorithms.blocks.weights import BlockWeights

__all__ = ["BlockWeights", "biconnect", "biconnect_part", "biconnect_parts", "double_stars", "join_parts"]
