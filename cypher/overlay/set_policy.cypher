// Another policy, told by the record of the version it came with. $policy: its properties; $version; $before and $after:
// the values that changed, as JSON text.
MATCH (overlay:Overlay {name: 'live'})
SET overlay += $policy
WITH overlay
MATCH (change:Change {version: $version})
SET change.policy_before = $before, change.policy_after = $after
