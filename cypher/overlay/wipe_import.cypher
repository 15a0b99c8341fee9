// Remove some of what an interrupted import left behind: everybody, and the history past $version; $limit at the most.
// $import: who wipes. The lock comes first: one who was away for long may have another owner after it, or a live overlay.
// Answers nothing where nothing is left, or where it is not the owner.
MATCH (overlay:Overlay {name: 'live', state: 'importing', import: $import})
SET overlay.asked = $import
WITH overlay WHERE overlay.state = 'importing' AND overlay.import = $import
CALL () {
  MATCH (rest:Broker) RETURN rest
  UNION ALL
  MATCH (rest:Topic) RETURN rest
  UNION ALL
  MATCH (rest:Change) WHERE rest.version > $version RETURN rest
}
WITH overlay, rest LIMIT $limit
DETACH DELETE rest
RETURN overlay.version AS version, count(*) AS removed
