// Whose lease ends soon, or has ended?
//
// Group: agents
// Parameters:
//   $seconds (integer, default 60, at least 0, at most 1000000000): leases that end within so many seconds from now
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   broker: the broker's id
//   until: when its lease ends
//   seconds_left: from now, negative when it has ended
//   degree: its links
// Example:
//   :param seconds => 60
//   :param limit => 20
MATCH (broker:Broker)
WHERE broker.lease_until <= datetime() + duration({seconds: $seconds})
RETURN broker.id AS broker, broker.lease_until AS until,
       duration.inSeconds(datetime(), broker.lease_until).seconds AS seconds_left,
       COUNT { (broker)-[:LINK]-() } AS degree
ORDER BY until, broker
LIMIT $limit
