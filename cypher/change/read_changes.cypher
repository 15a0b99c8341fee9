// The records after version $after, oldest first, at most $limit.
MATCH (change:Change)
WHERE change.version > $after
RETURN change
ORDER BY change.version
LIMIT $limit
