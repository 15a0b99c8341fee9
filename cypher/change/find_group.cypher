// Did the commit $group happen? The lock makes the answer wait for a commit that is still under way.
MATCH (overlay:Overlay {name: 'live'})
SET overlay.asked = $group
WITH overlay
OPTIONAL MATCH (change:Change {group: $group})
RETURN count(change) AS changes
