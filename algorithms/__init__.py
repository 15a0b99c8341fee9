"""Topic-connected overlays: interests in, links out.

>>> from algorithms import Interests, build
>>> interests = Interests.from_mapping({"a": ["x", "y"], "b": ["y", "z"], "c": ["x", "z"]})
>>> overlay = build("gm", interests)
>>> overlay.is_tco(), len(overlay.links)
(True, 3)
"""

from algorithms import (  # noqa: F401 - importing the module of an algorithm registers it
    cd_oda,
    degree_cover,
    divide_conquer,
    gm,
    gm2,
    hararypt,
    low_oda,
    per_topic,
    two_d_oda,
    weave,
)
from algorithms.errors import (
    AlgorithmsError,
    BadFile,
    BadInput,
    Cancelled,
    UnknownAlgorithm,
    UnknownParameter,
)
from algorithms.interests import Interests
from algorithms.live import LiveOverlay, Plan, Policy
from algorithms.overlay import Overlay
from algorithms.progress import Progress
from algorithms.registry import Algorithm, Parameter, algorithms, build, find_algorithm

__all__ = [
    "Algorithm",
    "AlgorithmsError",
    "BadFile",
    "BadInput",
    "Cancelled",
    "Interests",
    "LiveOverlay",
    "Overlay",
    "Parameter",
    "Plan",
    "Policy",
    "Progress",
    "UnknownAlgorithm",
    "UnknownParameter",
    "algorithms",
    "build",
    "find_algorithm",
]
