"""Degree cover as the progress of the greedy loop: links until every subscriber has k of them in each of its topics.

The loop is the one of :mod:`algorithms.engine` once more: count a band of the best pairs, work it off lazily. A pair's
score is a sum of weights, not a count, and a linked pair may keep one, so counting and weighing are its own.
"""

from algorithms.cover.loop import cover
from algorithms.cover.score import Score, plain, sized, weighted

__all__ = ["Score", "cover", "plain", "sized", "weighted"]
