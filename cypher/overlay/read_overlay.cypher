// The one overlay: its version, state and policy.
MATCH (overlay:Overlay {name: 'live'})
RETURN overlay.version AS version, overlay.state AS state,
       overlay.k AS k, overlay.rho AS rho, overlay.lambda AS lambda, overlay.algorithm AS algorithm
