// The import is complete: the overlay goes live at version 1, with its change. $actor, $policy {k, rho, lambda, algorithm}.
MATCH (overlay:Overlay {name: 'live', state: 'importing'})
SET overlay.state = 'live', overlay.version = 1, overlay += $policy
CREATE (change:Change {
  version: 1, group: randomUUID(), at: datetime(), actor: $actor, kind: 'import', broker: null,
  opened_a: [], opened_b: [], opened_reason: [], closed_a: [], closed_b: [],
  subscribed_broker: [], subscribed_topic: [], unsubscribed_broker: [], unsubscribed_topic: []
})
RETURN overlay.version AS version
