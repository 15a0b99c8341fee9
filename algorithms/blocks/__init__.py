"""Topic blocks as the progress of the greedy loop: GM2 and what is built on it.

The loop is the one of :mod:`algorithms.engine`: count a band of the best pairs, work it off lazily from the top. Its
limits, queues, tie rules and the cutting of rows and lists are shared. The two innermost loops (counting a row, weighing
a pair) are not: "shares no block" takes three comparisons where "is in another component" takes one, and a kernel that
asks which of the two it is to do in there loses a third of its speed.
"""

from algorithms.blocks.loop import biconnect
from algorithms.blocks.parts import biconnect_part, biconnect_parts, double_stars, join_parts

__all__ = ["biconnect", "biconnect_part", "biconnect_parts", "double_stars", "join_parts"]
