// From here on the history begins after version $through: written before any record is removed, so that all processes
// agree on it and a removal that was cut short is taken up again. Never the newest version.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = 'history'
WITH overlay
WHERE $through < overlay.version AND $through > coalesce(overlay.forgotten, 0)
SET overlay.forgotten = $through
RETURN overlay.forgotten AS forgotten
