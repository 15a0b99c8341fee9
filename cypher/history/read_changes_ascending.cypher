// The records between two versions that pass the filters, oldest first. $after, $before: versions, both excluded;
// $kind, $actor, $broker, $since, $until: null means any; $broker: who changed, joined, left, or is named by a link or subscription.
MATCH (change:Change)
WHERE change.version > $after AND change.version < $before
  AND ($kind IS NULL OR change.kind = $kind)
  AND ($actor IS NULL OR change.actor = $actor)
  AND ($since IS NULL OR change.at >= $since)
  AND ($until IS NULL OR change.at < $until)
  AND ($broker IS NULL OR change.broker = $broker OR $broker IN change.joined OR $broker IN change.left
       OR $broker IN change.opened_a OR $broker IN change.opened_b OR $broker IN change.closed_a OR $broker IN change.closed_b
       OR $broker IN change.subscribed_broker OR $broker IN change.unsubscribed_broker)
RETURN change
ORDER BY change.version
LIMIT $limit
