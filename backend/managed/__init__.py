"""Everything TopicWeave runs on a machine by itself: jars, Java, the Neo4j server, the processes of `up`."""
