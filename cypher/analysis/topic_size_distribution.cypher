// How many topics are small, and how many are large?
//
// Group: interests
// Columns:
//   from: fewest subscribers of a topic counted here
//   to: most subscribers of a topic counted here
//   topics: how many topics have so many
//   subscriptions: how many they hold together
MATCH (topic:Topic)
WITH COUNT { (topic)<-[:SUBSCRIBES]-() } AS subscribers
WITH CASE subscribers WHEN 0 THEN 0 ELSE size(toString(subscribers)) END AS digits, subscribers
RETURN CASE digits WHEN 0 THEN 0 ELSE toInteger(10 ^ (digits - 1)) END AS `from`,
       CASE digits WHEN 0 THEN 0 ELSE toInteger(10 ^ digits) - 1 END AS `to`,
       count(*) AS topics,
       sum(subscribers) AS subscriptions
ORDER BY `from`
