// The records after version $after and up to $version, oldest first, at most $limit, with all that they hold.
MATCH (change:Change)
WHERE $after < change.version <= $version
RETURN properties(change) AS change
ORDER BY change.version
LIMIT $limit
