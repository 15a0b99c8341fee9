// Why do the links exist?
//
// Group: links
// Columns:
//   reason: why they were opened, repairs without the topics they connect
//   links: how many
//   oldest: the lowest version that opened one
//   newest: the highest version that opened one
MATCH (:Broker)-[link:LINK]->(:Broker)
WITH CASE WHEN link.reason STARTS WITH 'connects ' THEN 'connects topics' ELSE link.reason END AS reason, link.since AS since
RETURN reason, count(*) AS links, min(since) AS oldest, max(since) AS newest
ORDER BY links DESC, reason
