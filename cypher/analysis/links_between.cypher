// When were links opened and closed between two brokers?
//
// A link that came with an import has no record of its opening: broker_links shows it with the version of the import.
// Looks through the whole history: it takes longer the more changes are kept.
//
// Group: history
// Parameters:
//   $a (string): one broker's id
//   $b (string): the other broker's id
// Columns:
//   version: the version it made
//   at: when
//   event: opened or closed
//   reason: why
//   actor: who
//   kind: join, leave, subscribe, activate and so on
// Example:
//   :param a => 'b00001'
//   :param b => 'b00002'
WITH CASE WHEN $a < $b THEN $a ELSE $b END AS a, CASE WHEN $a < $b THEN $b ELSE $a END AS b
MATCH (change:Change)
WHERE (a IN change.opened_a AND b IN change.opened_b) OR (a IN change.closed_a AND b IN change.closed_b)
WITH a, b, change,
     change.opened_a AS opened_a, change.opened_b AS opened_b, change.opened_reason AS opened_reason,
     change.closed_a AS closed_a, change.closed_b AS closed_b, change.closed_reason AS closed_reason
WITH change,
     [i IN range(0, size(opened_a) - 1) WHERE opened_a[i] = a AND opened_b[i] = b | ['opened', opened_reason[i]]]
       + [i IN range(0, size(closed_a) - 1) WHERE closed_a[i] = a AND closed_b[i] = b | ['closed', closed_reason[i]]] AS events
UNWIND events AS event
RETURN change.version AS version, change.at AS at, event[0] AS event, event[1] AS reason,
       change.actor AS actor, change.kind AS kind
ORDER BY version
