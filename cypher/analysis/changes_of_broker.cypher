// What happened to one broker?
//
// The newest changes first.
// Looks through the whole history: it takes longer the more changes are kept.
//
// Group: history
// Parameters:
//   $broker (string): the broker's id
//   $limit (integer, default 20, at least 1): so many rows at the most
// Columns:
//   version: the version it made
//   at: when
//   actor: who
//   kind: join, leave, subscribe, activate and so on
//   about: the broker the change was about, null where it was about several
//   subscribed: topics the broker subscribed to
//   unsubscribed: topics it gave up
//   opened: brokers it was linked to
//   closed: brokers it was parted from
// Example:
//   :param broker => 'b00001'
//   :param limit => 20
MATCH (change:Change)
WHERE change.broker = $broker OR $broker IN change.joined OR $broker IN change.left
   OR $broker IN change.opened_a OR $broker IN change.opened_b
   OR $broker IN change.closed_a OR $broker IN change.closed_b
   OR $broker IN change.subscribed_broker OR $broker IN change.unsubscribed_broker
WITH change
ORDER BY change.version DESC
LIMIT $limit
WITH change,
     change.opened_a AS opened_a, change.opened_b AS opened_b,
     change.closed_a AS closed_a, change.closed_b AS closed_b,
     change.subscribed_broker AS subscribed_broker, change.subscribed_topic AS subscribed_topic,
     change.unsubscribed_broker AS unsubscribed_broker, change.unsubscribed_topic AS unsubscribed_topic
RETURN change.version AS version, change.at AS at, change.actor AS actor, change.kind AS kind, change.broker AS about,
       [i IN range(0, size(subscribed_broker) - 1) WHERE subscribed_broker[i] = $broker | subscribed_topic[i]] AS subscribed,
       [i IN range(0, size(unsubscribed_broker) - 1) WHERE unsubscribed_broker[i] = $broker | unsubscribed_topic[i]]
         AS unsubscribed,
       [i IN range(0, size(opened_a) - 1) WHERE opened_a[i] = $broker | opened_b[i]]
         + [i IN range(0, size(opened_b) - 1) WHERE opened_b[i] = $broker | opened_a[i]] AS opened,
       [i IN range(0, size(closed_a) - 1) WHERE closed_a[i] = $broker | closed_b[i]]
         + [i IN range(0, size(closed_b) - 1) WHERE closed_b[i] = $broker | closed_a[i]] AS closed
ORDER BY version DESC
