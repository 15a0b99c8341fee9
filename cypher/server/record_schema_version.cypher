// Note that version $version of cypher/schema is in force.
MERGE (schema:Schema {name: 'topicweave'})
SET schema.version = $version, schema.applied_at = datetime()
