// A restore is complete: the overlay goes live at the version of the backup, with its history and its keys.
// $import: its id; $version; $imported and $forgotten: how far the history reaches back; $policy; $keys: properties.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
SET overlay.state = 'live', overlay.version = $version, overlay += $policy,
    overlay.imported = $imported, overlay.forgotten = $forgotten
REMOVE overlay.import, overlay.heartbeat_at
FOREACH (row IN $keys | CREATE (key:Key) SET key = row)
RETURN overlay.version AS version
