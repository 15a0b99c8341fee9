"""PySpark jobs for bulk rebuilds through the Neo4j connector, or Parquet to Parquet."""
