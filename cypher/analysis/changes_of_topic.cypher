// Who subscribed to one topic, and who gave it up?
//
// The newest changes first.
// Looks through the whole history: it takes longer the more changes are kept.
//
// Group: history
// Parameters:
//   $topic (string): the topic's name
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   version: the version it made
//   at: when
//   actor: who
//   kind: join, leave, subscribe and so on
//   subscribed: brokers that subscribed to it
//   unsubscribed: brokers that gave it up
// Example:
//   :param topic => 't0001'
//   :param limit => 20
MATCH (change:Change)
WHERE $topic IN change.subscribed_topic OR $topic IN change.unsubscribed_topic
WITH change
ORDER BY change.version DESC
LIMIT $limit
WITH change,
     change.subscribed_broker AS subscribed_broker, change.subscribed_topic AS subscribed_topic,
     change.unsubscribed_broker AS unsubscribed_broker, change.unsubscribed_topic AS unsubscribed_topic
RETURN change.version AS version, change.at AS at, change.actor AS actor, change.kind AS kind,
       [i IN range(0, size(subscribed_topic) - 1) WHERE subscribed_topic[i] = $topic | subscribed_broker[i]] AS subscribed,
       [i IN range(0, size(unsubscribed_topic) - 1) WHERE unsubscribed_topic[i] = $topic | unsubscribed_broker[i]]
         AS unsubscribed
ORDER BY version DESC
