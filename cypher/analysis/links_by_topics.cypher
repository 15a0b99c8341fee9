// How many topics do the links serve?
//
// A link serves the topics that both its ends subscribe to. A link that serves none should not exist: see links_for_nothing.
//
// Group: links
// Columns:
//   topics: a number of topics
//   links: how many links serve just so many
MATCH (a:Broker)
WITH a, COLLECT { MATCH (a)-[:SUBSCRIBES]->(topic) RETURN topic } AS topics_of_a
MATCH (a)-[link:LINK]->(b)-[:SUBSCRIBES]->(topic)
WHERE topic IN topics_of_a
WITH link, count(topic) AS topics
WITH topics, count(link) AS links
WITH collect({topics: topics, links: links}) AS served, sum(links) AS counted
WITH served + CASE COUNT { ()-[:LINK]->() } - counted
                WHEN 0 THEN [] ELSE [{topics: 0, links: COUNT { ()-[:LINK]->() } - counted}] END AS served
UNWIND served AS row
RETURN row.topics AS topics, row.links AS links
ORDER BY topics
