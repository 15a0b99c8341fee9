// The net effect of a group of changes, and their records: the whole of a commit in one statement, so that one answer of
// the server is waited for. It locks the overlay first, as change/lock_overlay does. Nothing is returned, and the
// transaction is to be rolled back, where somebody else committed since version base, an import is under way, or one of
// the Idempotency-Keys (keys) has an answer already.
// $commit: {
//   group: the id of the commit; base; keys,
//   closed: [{a, b}], opened: [{a, b, since, reason}], with a < b,
//   unsubscribed, subscribed: [{broker, topics}],
//   left: ids; joined: [{id, attributes, lease_seconds, lease_until, topics}], where what is null is not stored,
//   ended: topics that may have lost their last subscriber,
//   answers: [{key, fingerprint, answer}]; records: properties of Change nodes; version: what the overlay is raised to
// }
// Planning it takes Neo4j 0.3 to 1 s, which no change should wait for. So all of it is one parameter: with several, there is
// a plan for each mixture of their sizes. A plan once made is kept, however the overlay grows, and the hints see to it
// that the plan of an empty overlay, too, starts from the brokers named.
CYPHER replan=skip
MATCH (overlay:Overlay {name: 'live'})
SET overlay.group = $commit.group
WITH overlay
WHERE overlay.version = $commit.base AND overlay.state = 'live'
  AND NOT EXISTS { MATCH (known:Idempotency) WHERE known.key IN $commit.keys }
CALL () {
  UNWIND $commit.closed AS row
  MATCH (a:Broker {id: row.a})-[link:LINK]->(b)
  USING INDEX SEEK a:Broker(id)
  WHERE b.id = row.b
  DELETE link
}
CALL () {
  UNWIND $commit.unsubscribed AS row
  MATCH (broker:Broker {id: row.broker})-[subscription:SUBSCRIBES]->(topic)
  USING INDEX SEEK broker:Broker(id)
  WHERE topic.name IN row.topics
  DELETE subscription
}
CALL () {
  UNWIND $commit.left AS id
  MATCH (broker:Broker {id: id})
  DETACH DELETE broker
}
CALL () {
  UNWIND $commit.joined AS row
  CREATE (broker:Broker {
    id: row.id, attributes: row.attributes, lease_seconds: row.lease_seconds, lease_until: row.lease_until
  })
  WITH broker, row
  UNWIND row.topics AS name
  MERGE (topic:Topic {name: name})
  CREATE (broker)-[:SUBSCRIBES]->(topic)
}
CALL () {
  UNWIND $commit.subscribed AS row
  MATCH (broker:Broker {id: row.broker})
  UNWIND row.topics AS name
  MERGE (topic:Topic {name: name})
  CREATE (broker)-[:SUBSCRIBES]->(topic)
}
CALL () {
  UNWIND $commit.opened AS row
  MATCH (a:Broker {id: row.a})
  MATCH (b:Broker {id: row.b})
  CREATE (a)-[:LINK {since: row.since, reason: row.reason}]->(b)
}
CALL () {
  UNWIND $commit.ended AS name
  MATCH (topic:Topic {name: name})
  WHERE NOT EXISTS { (:Broker)-[:SUBSCRIBES]->(topic) }
  DELETE topic
}
CALL () {
  UNWIND $commit.answers AS row
  CREATE (:Idempotency {key: row.key, fingerprint: row.fingerprint, answer: row.answer, at: datetime()})
}
CALL () {
  UNWIND $commit.records AS row
  CREATE (change:Change)
  SET change = row
}
SET overlay.version = $commit.version
RETURN overlay.version AS version
