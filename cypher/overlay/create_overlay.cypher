// A new overlay: nothing in it yet, at version 0. $policy: its properties. Answers nothing where one exists already.
OPTIONAL MATCH (existing:Overlay {name: 'live'})
WITH existing WHERE existing IS NULL
CREATE (overlay:Overlay {name: 'live', state: 'live', version: 0})
SET overlay += $policy
RETURN overlay.version AS version
