// Where the overlay is: asked often, by every API process.
MATCH (overlay:Overlay {name: 'live'})
RETURN overlay.version AS version, overlay.state AS state
