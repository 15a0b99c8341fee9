// Where the overlay is and what its history says, past what retention has removed.
MATCH (overlay:Overlay)
WITH collect(properties(overlay)) AS overlays
OPTIONAL MATCH (change:Change)
WHERE change.version > coalesce(overlays[0].forgotten, 0)
RETURN overlays, coalesce(overlays[0].forgotten, 0) AS forgotten, count(change) AS changes, min(change.version) AS first, max(change.version) AS last
