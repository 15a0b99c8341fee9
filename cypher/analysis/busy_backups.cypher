// Which brokers are the backup of too many others?
//
// Group: backups
// Parameters:
//   $above (integer, default 10, at least 0): only backups of more brokers than this
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   backup: the broker's id
//   primaries: brokers it is a backup of
//   topics: its subscriptions
//   degree: its links
// Example:
//   :param above => 10
//   :param limit => 20
MATCH (backup:Broker)
WITH backup, COUNT { (backup)<-[:BACKED_UP_BY]-() } AS primaries
WHERE primaries > $above
WITH backup, primaries
ORDER BY primaries DESC, backup.id
LIMIT $limit
RETURN backup.id AS backup, primaries, COUNT { (backup)-[:SUBSCRIBES]->() } AS topics, COUNT { (backup)-[:LINK]-() } AS degree
