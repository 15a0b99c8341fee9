// Which topics went longest without anybody coming or going?
//
// Looks through the whole history: it takes longer the more changes are kept.
//
// Group: interests
// Parameters:
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   topic: the topic's name
//   subscribers: how many it has
//   version: of the last change of its subscribers, 0 where the history has none
//   at: when that was
// Example:
//   :param limit => 20
CALL () {
  MATCH (topic:Topic)
  RETURN topic.name AS name, 0 AS version
  UNION ALL
  MATCH (change:Change)
  UNWIND change.subscribed_topic + change.unsubscribed_topic AS name
  RETURN name, change.version AS version
}
WITH name, max(version) AS version
MATCH (topic:Topic {name: name})
WITH topic, version
ORDER BY version, topic.name
LIMIT $limit
OPTIONAL MATCH (change:Change {version: version})
RETURN topic.name AS topic, COUNT { (topic)<-[:SUBSCRIBES]-() } AS subscribers, version, change.at AS at
ORDER BY version, topic
