// Every link of the live overlay, by its smaller end: one row a broker, as decoding a row costs more than what is in it.
MATCH (a:Broker)
CALL (a) {
  MATCH (a)-[link:LINK]->(b:Broker)
  RETURN collect(b.id) AS ends, collect(coalesce(link.since, 0)) AS since, collect(coalesce(link.reason, '')) AS reasons
}
WITH a, ends, since, reasons WHERE size(ends) > 0
RETURN a.id AS a, ends, since, reasons
