// Who subscribed to a topic at an earlier version, and how were they linked?
//
// Backwards from the live overlay: what happened to a link first after the version says what it was then. Closed: it was there.
// Opened: it was not. Nothing: it is as it is now. (Marks are even for opened, odd for closed and for the live links.)
// No rows: the version is newer than the overlay, or older than the history kept (an import begins it anew).
// Looks through all changes since $version: it takes longer the more there are.
//
// Group: history
// Parameters:
//   $topic (string): the topic's name
//   $version (integer, at least 0): the version to go back to
// Columns:
//   broker: a subscriber of that time
//   neighbours: the subscribers it was linked to then
// Example:
//   :param topic => 't0001'
//   :param version => 100
MATCH (overlay:Overlay {name: 'live'})
WITH overlay, coalesce(overlay.forgotten, 0) AS before, coalesce(overlay.imported, 0) AS imported
WHERE before <= $version <= overlay.version AND imported <= $version
CALL () {
  MATCH (broker:Broker)-[:SUBSCRIBES]->(:Topic {name: $topic})
  RETURN broker.id AS broker, 9007199254740991 AS mark
  UNION ALL
  MATCH (change:Change)
  WHERE change.version > $version AND $topic IN change.subscribed_topic
  WITH 2 * change.version AS mark, change.subscribed_topic AS topics, change.subscribed_broker AS brokers
  UNWIND [i IN range(0, size(topics) - 1) WHERE topics[i] = $topic | brokers[i]] AS broker
  RETURN broker, mark
  UNION ALL
  MATCH (change:Change)
  WHERE change.version > $version AND $topic IN change.unsubscribed_topic
  WITH 2 * change.version + 1 AS mark, change.unsubscribed_topic AS topics, change.unsubscribed_broker AS brokers
  UNWIND [i IN range(0, size(topics) - 1) WHERE topics[i] = $topic | brokers[i]] AS broker
  RETURN broker, mark
}
WITH broker, min(mark) AS first
WHERE first % 2 = 1
WITH collect(broker) AS subscribers
CALL (subscribers) {
  CALL (subscribers) {
    UNWIND subscribers AS id
    MATCH (a:Broker {id: id})-[:LINK]->(b:Broker)
    WHERE b.id IN subscribers
    RETURN a.id AS a, b.id AS b, 9007199254740991 AS mark
    UNION ALL
    MATCH (change:Change)
    WHERE change.version > $version
    WITH 2 * change.version AS mark, change.opened_a AS opened_a, change.opened_b AS opened_b
    UNWIND [i IN range(0, size(opened_a) - 1) WHERE opened_a[i] IN subscribers AND opened_b[i] IN subscribers] AS i
    RETURN opened_a[i] AS a, opened_b[i] AS b, mark
    UNION ALL
    MATCH (change:Change)
    WHERE change.version > $version
    WITH 2 * change.version + 1 AS mark, change.closed_a AS closed_a, change.closed_b AS closed_b
    UNWIND [i IN range(0, size(closed_a) - 1) WHERE closed_a[i] IN subscribers AND closed_b[i] IN subscribers] AS i
    RETURN closed_a[i] AS a, closed_b[i] AS b, mark
  }
  WITH a, b, min(mark) AS first
  WHERE first % 2 = 1
  RETURN collect([a, b]) + collect([b, a]) AS pairs
}
UNWIND subscribers AS broker
RETURN broker, COLLECT { UNWIND pairs AS pair WITH pair WHERE pair[0] = broker RETURN pair[1] AS other ORDER BY other } AS neighbours
ORDER BY broker
