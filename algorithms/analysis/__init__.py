"""What an overlay is worth: degrees, components, blocks, articulation brokers, bridges, diameters, pictures."""

from algorithms.analysis.layout import topic_layout
from algorithms.analysis.topic import TopicAnalysis, topic_analysis

__all__ = ["TopicAnalysis", "topic_analysis", "topic_layout"]
