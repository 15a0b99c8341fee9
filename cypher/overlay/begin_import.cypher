// Start an import into an empty overlay. $import: its id. Answers nothing where brokers exist already or an import runs.
MATCH (overlay:Overlay {name: 'live', state: 'live'})
SET overlay.heartbeat_at = datetime()
WITH overlay WHERE overlay.state = 'live' AND NOT EXISTS { (:Broker) }
SET overlay.state = 'importing', overlay.import = $import
RETURN overlay.version AS version
