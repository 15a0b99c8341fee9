// Which brokers' agents are behind the overlay?
//
// A broker has an agent when it has a lease, or has acknowledged a version: those that an activation waits for.
//
// Group: agents
// Parameters:
//   $versions (integer, default 1, at least 1): only agents at least so many versions behind
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   acked: the last version whose links its agent has opened, null before the first
//   behind: versions since then, or all of them
//   waiting: links of the broker opened since then, or all of them
// Example:
//   :param versions => 1
//   :param limit => 20
MATCH (overlay:Overlay {name: 'live'})
MATCH (broker:Broker)
WHERE broker.lease_until IS NOT NULL OR broker.acked IS NOT NULL
WITH broker, coalesce(broker.acked, 0) AS opened, overlay.version AS version
WHERE version - opened >= $versions
RETURN broker.id AS broker, broker.acked AS acked, version - opened AS behind,
       COUNT { MATCH (broker)-[link:LINK]-() WHERE link.since > opened } AS waiting
ORDER BY waiting DESC, behind DESC, broker
LIMIT $limit
