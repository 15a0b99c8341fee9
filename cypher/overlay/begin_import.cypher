// Start an import into an empty overlay. $import: its id; $k: what its links were built for (null: whatever the policy promises).
// Answers nothing where brokers exist already or an import runs; where the policy promises another k, nothing is started.
MATCH (overlay:Overlay {name: 'live', state: 'live'})
SET overlay.heartbeat_at = datetime()
WITH overlay WHERE overlay.state = 'live' AND NOT EXISTS { (:Broker) }
FOREACH (fits IN CASE WHEN coalesce($k, overlay.k) = overlay.k THEN [true] ELSE [] END |
  SET overlay.state = 'importing', overlay.import = $import)
RETURN overlay.version AS version, overlay.k AS k
