// The records of a commit, and the version it raises the overlay to. $rows: properties of Change nodes; $version.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.version = $version
WITH overlay
UNWIND $rows AS row
CREATE (change:Change)
SET change = row
