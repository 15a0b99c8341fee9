// Which rebuilds were there, and what became of them?
//
// The newest first.
//
// Group: rebuilds
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   rebuild: its id
//   state: queued, running, planned, activating, active, failed, cancelled or dropped
//   algorithm: what was built
//   engine: local or spark
//   actor: who asked for it
//   created_at: when
//   base_version: the version it was computed from
//   candidates: links of it that wait to be activated
//   error: why it failed
// Example:
//   :param limit => 20
MATCH (rebuild:Rebuild)
WITH rebuild
ORDER BY rebuild.created_at DESC, rebuild.id
LIMIT $limit
CALL (rebuild) {
  MATCH ()-[candidate:CANDIDATE {rebuild: rebuild.id}]->()
  RETURN count(candidate) AS candidates
}
RETURN rebuild.id AS rebuild, rebuild.state AS state, rebuild.algorithm AS algorithm, rebuild.engine AS engine,
       rebuild.actor AS actor, rebuild.created_at AS created_at, rebuild.base_version AS base_version, candidates,
       rebuild.error AS error
ORDER BY created_at DESC, rebuild
