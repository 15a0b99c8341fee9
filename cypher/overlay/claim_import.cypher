// An import whose process was not heard of for $seconds gets a new owner, $wiper, who removes it; so only one process does.
// With $import, that import at once, however lately it was heard of. Answers nothing where there is none like that.
MATCH (overlay:Overlay {name: 'live', state: 'importing'})
WHERE overlay.import = $import OR overlay.heartbeat_at IS NULL
   OR overlay.heartbeat_at < datetime() - duration({seconds: $seconds})
SET overlay.asked = $wiper
WITH overlay
WHERE overlay.state = 'importing'
  AND (overlay.import = $import OR overlay.heartbeat_at IS NULL
       OR overlay.heartbeat_at < datetime() - duration({seconds: $seconds}))
SET overlay.import = $wiper, overlay.heartbeat_at = datetime()
RETURN overlay.version AS version
