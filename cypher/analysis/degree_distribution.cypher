// How are the links spread over the brokers?
//
// Group: degrees
// Columns:
//   degree: a number of links
//   brokers: how many brokers keep just so many
//   share: their part of all brokers, 0 to 1
MATCH (broker:Broker)
WITH COUNT { (broker)-[:LINK]-() } AS degree, count(*) AS brokers
WITH degree, brokers, 1.0 * brokers / COUNT { (:Broker) } AS share
RETURN degree, brokers, share
ORDER BY degree
