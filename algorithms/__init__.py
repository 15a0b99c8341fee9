"""Topic-connected overlays: interests in, links out.

>>> from algorithms import Interests, build
>>> interests = Interests.from_mapping({"a": ["x", "y"], "b": ["y", "z"], "c": ["x", "z"]})
>>> overlay = build("gm", interests)
>>> overlay.is_tco(), len(overlay.links)
(True, 3)
"""

from algorithms import cd_oda as _cd_oda
from algorithms import degree_cover as _degree_cover
from algorithms import divide_conquer as _divide_conquer
from algorithms import gm as _gm
from algorithms import gm2 as _gm2
from algorithms import hararypt as _hararypt
from algorithms import low_oda as _low_oda
from algorithms import per_topic as _per_topic
from algorithms import two_d_oda as _two_d_oda
from algorithms import weave as _weave
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
from algorithms.registry import Algorithm, Parameter, Progress, algorithms, build, find_algorithm

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

del _cd_oda, _degree_cover, _divide_conquer, _gm, _gm2, _hararypt, _low_oda, _per_topic, _two_d_oda, _weave
