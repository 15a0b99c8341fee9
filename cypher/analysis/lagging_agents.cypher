// Which brokers' agents are behind the overlay?
//
// Group: agents
// Parameters:
//   $versions (integer, default 1, at least 1): only agents at least so many versions behind
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   acked: the last version whose links its agent has opened
//   behind: versions since then
//   waiting: links of the broker opened since then
// Example:
//   :param versions => 1
//   :param limit => 20
MATCH (overlay:Overlay {name: 'live'})
MATCH (broker:Broker)
WHERE overlay.version - broker.acked >= $versions
RETURN broker.id AS broker, broker.acked AS acked, overlay.version - broker.acked AS behind,
       COUNT { MATCH (broker)-[link:LINK]-() WHERE link.since > broker.acked } AS waiting
ORDER BY waiting DESC, behind DESC, broker
LIMIT $limit
