// How did the maximum degree grow?
//
// A broker's degree at a version is its degree now, less the links opened since, and the links closed since added again.
// The points cut the history into stretches, a broker's steps are summed in each of them.
// Looks through the whole history: it takes longer the more changes are kept.
//
// Group: history
// Parameters:
//   $points (integer, default 10, at least 2, at most 100): so many versions, evenly spread over the history
// Columns:
//   version: the version
//   max_degree: links of the broker that kept most then
//   average_degree: links kept on average by the brokers that had any
// Example:
//   :param points => 10
MATCH (overlay:Overlay {name: 'live'})
MATCH (change:Change)
WITH overlay.version AS last, min(change.version) - 1 AS before, max(CASE change.kind WHEN 'import' THEN change.version END) AS imported
WITH last, CASE WHEN imported > before THEN imported ELSE before END AS first
UNWIND [i IN range(0, $points - 1) | first + (last - first) * i / ($points - 1)] AS version
WITH DISTINCT version
ORDER BY version
WITH collect(version) AS versions
CALL (versions) {
  MATCH (broker:Broker)
  RETURN broker.id AS id, size(versions) AS stretch, COUNT { (broker)-[:LINK]-() } AS links
  UNION ALL
  MATCH (change:Change)
  WHERE change.version > versions[0]
  WITH change, size([version IN versions WHERE version < change.version]) AS stretch
  CALL (change) {
    UNWIND change.opened_a + change.opened_b AS id
    RETURN id, -1 AS step
    UNION ALL
    UNWIND change.closed_a + change.closed_b AS id
    RETURN id, 1 AS step
  }
  RETURN id, stretch, sum(step) AS links
}
WITH versions, id, collect([stretch, links]) AS steps
UNWIND range(0, size(versions) - 1) AS i
WITH versions[i] AS version, reduce(degree = 0, step IN steps | degree + CASE WHEN step[0] > i THEN step[1] ELSE 0 END) AS degree
WITH version, max(degree) AS max_degree, sum(degree) AS ends, sum(sign(degree)) AS linked
RETURN version, max_degree, CASE linked WHEN 0 THEN 0.0 ELSE 1.0 * ends / linked END AS average_degree
ORDER BY version
