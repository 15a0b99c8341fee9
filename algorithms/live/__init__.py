"""Live overlays: changes planned, applied and undone, each repaired in about a millisecond.

>>> from algorithms import Interests, build
>>> from algorithms.live import LiveOverlay, leave
>>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"], "d": ["y"]})
>>> live = LiveOverlay(build("gm", interests))
>>> plan = live.plan(leave("b"))
>>> live.apply(plan)
>>> live.snapshot().is_tco(), live.version
(True, 1)
>>> live.undo()
>>> live.brokers, live.version
(4, 0)
"""

from algorithms.live.around import plan_around
from algorithms.live.changes import Change, join, leave, set_topics, subscribe, unsubscribe
from algorithms.live.overlay import LiveOverlay
from algorithms.live.plan import LinkChange, Plan, Policy

__all__ = [
    "Change",
    "LinkChange",
    "LiveOverlay",
    "Plan",
    "Policy",
    "join",
    "leave",
    "plan_around",
    "set_topics",
    "subscribe",
    "unsubscribe",
]
