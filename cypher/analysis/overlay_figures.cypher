// How large is the live overlay, and how many links does a broker keep?
//
// Group: overlay
// Columns:
//   version: the overlay's version
//   brokers: how many there are
//   topics: how many there are
//   subscriptions: how many there are
//   links: how many there are
//   average_degree: links a broker keeps on average
//   max_degree: links of the broker that keeps most
//   k: the policy's promise, every topic stays connected whatever k - 1 brokers fail
MATCH (overlay:Overlay {name: 'live'})
WITH overlay,
     COUNT { (:Broker) } AS brokers,
     COUNT { (:Topic) } AS topics,
     COUNT { ()-[:SUBSCRIBES]->() } AS subscriptions,
     COUNT { ()-[:LINK]->() } AS links
OPTIONAL MATCH (broker:Broker)
WITH overlay, brokers, topics, subscriptions, links, max(COUNT { (broker)-[:LINK]-() }) AS max_degree
RETURN overlay.version AS version, brokers, topics, subscriptions, links,
       CASE brokers WHEN 0 THEN 0.0 ELSE 2.0 * links / brokers END AS average_degree,
       coalesce(max_degree, 0) AS max_degree,
       overlay.k AS k
