"""Topic blocks as the progress of the greedy loop: GM2 and what is built on it.

The loop is the one of :mod:`algorithms.engine`: count a band of the best pairs, work it off lazily from the top. Its
limits, queues, tie rules and the cutting of rows and lists are shared. The two innermost loops (counting a row, weighing
a pair) are not: "shares no block" compares three numbers where "is in another component" compares one, and that test
is made at every list visit, where nearly all the time goes.
"""

from algorithms.blocks.loop import biconnect
from algorithms.blocks.parts import biconnect_part, biconnect_parts, double_stars, join_parts

__all__ = ["biconnect", "biconnect_part", "biconnect_parts", "double_stars", "join_parts"]
