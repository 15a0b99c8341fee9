// A rebuild is asked for. $properties: of its node.
CREATE (rebuild:Rebuild)
SET rebuild = $properties, rebuild.heartbeat_at = datetime()
