"""What an overlay is worth: degrees, components, blocks, articulation brokers, bridges, diameters, pictures."""

from algorithms.analysis.layout import topic_layout
from algorithms.analysis.measures import Measures, forced_degrees, measure
from algorithms.analysis.parts import PartMeasures, measure_parts
from algorithms.analysis.topic import TopicAnalysis, topic_analysis

__all__ = [
    "Measures",
    "PartMeasures",
    "TopicAnalysis",
    "forced_degrees",
    "measure",
    "measure_parts",
    "topic_analysis",
    "topic_layout",
]
