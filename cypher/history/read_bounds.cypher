// How far the history reaches back: the newest version whose Change was removed, and that of the last import.
MATCH (overlay:Overlay {name: 'live'})
RETURN overlay.version AS version, coalesce(overlay.forgotten, 0) AS forgotten, coalesce(overlay.imported, 0) AS imported
