// The one overlay: its version, state and policy.
MATCH (overlay:Overlay {name: 'live'})
RETURN overlay.version AS version, overlay.state AS state, properties(overlay) AS properties
