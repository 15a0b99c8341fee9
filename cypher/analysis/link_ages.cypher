// How old are the links?
//
// Group: links
// Columns:
//   day: when they were opened, null where that is older than the history kept
//   links: how many of the live links were opened then
MATCH (:Broker)-[link:LINK]->(:Broker)
WITH link.since AS version, count(*) AS links
OPTIONAL MATCH (change:Change {version: version})
RETURN date(change.at) AS day, sum(links) AS links
ORDER BY day
