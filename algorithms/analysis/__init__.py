"""What an overlay is worth: degrees, components, blocks, articulation brokers, bridges, diameters, pictures."""

from algorithms.analysis.blast import blast_radii
from algorithms.analysis.layout import topic_layout
from algorithms.analysis.measures import Measures, forced_degrees, measure, overlay_diameters
from algorithms.analysis.parts import PartMeasures, measure_parts
from algorithms.analysis.topic import TopicAnalysis, topic_analysis

__all__ = [
    "Measures",
    "PartMeasures",
    "TopicAnalysis",
    "blast_radii",
    "forced_degrees",
    "measure",
    "measure_parts",
    "overlay_diameters",
    "topic_analysis",
    "topic_layout",
]
