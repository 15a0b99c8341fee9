// The last step of wiping an interrupted import: the overlay that never went live.
MATCH (overlay:Overlay {name: 'live', state: 'importing'})
DELETE overlay
