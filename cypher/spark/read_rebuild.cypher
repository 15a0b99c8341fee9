// The record that a job works for. $rebuild: its id.
MATCH (rebuild:Rebuild {id: $rebuild})
RETURN rebuild.state AS state, coalesce(rebuild.cancelling, false) AS cancelling
