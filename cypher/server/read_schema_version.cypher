// Which version of cypher/schema was applied last?
MATCH (schema:Schema {name: 'topicweave'})
RETURN schema.version AS version
