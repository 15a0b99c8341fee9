"""The manager: settings, Neo4j store, live overlay, FastAPI app, command line."""
