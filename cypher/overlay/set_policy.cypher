// Another policy, told by the record of the version it comes with. $policy: its properties.
MATCH (overlay:Overlay {name: 'live'})
SET overlay += $policy
