// Rebuilds in one of $states that nobody worked on for $days are removed; not while links of theirs are stored, under their id
// or with $suffix.
MATCH (rebuild:Rebuild)
WHERE rebuild.state IN $states
  AND coalesce(rebuild.heartbeat_at, rebuild.created_at) < datetime() - duration({days: $days})
  AND NOT EXISTS { MATCH ()-[:CANDIDATE {rebuild: rebuild.id}]->() }
  AND NOT EXISTS { MATCH ()-[:CANDIDATE {rebuild: rebuild.id + $suffix}]->() }
DETACH DELETE rebuild
