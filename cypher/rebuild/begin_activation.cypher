// A rebuild begins to be activated, unless another one is. $id; $from: the state it must be in; $properties; $owner.
// Its state is read under its own lock: a drop takes no other.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = $id
WITH overlay
OPTIONAL MATCH (other:Rebuild {state: 'activating'})
WITH collect(other.id) AS others
OPTIONAL MATCH (asked:Rebuild {id: $id})
SET asked.asked = $id
WITH others, asked
OPTIONAL MATCH (rebuild:Rebuild {id: $id}) WHERE rebuild.state = $from AND others = []
SET rebuild += $properties, rebuild.state = 'activating', rebuild.owner = $owner, rebuild.heartbeat_at = datetime()
RETURN others, rebuild.id AS begun
