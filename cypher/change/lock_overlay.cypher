// First statement of every commit: nobody else commits until this transaction ends. $group: the id of the commit.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.group = $group
WITH overlay
RETURN overlay.version AS version, overlay.state AS state
