// The versions after $forgotten that have no Change although the next one has. $limit: so many at the most.
MATCH (change:Change)
WHERE change.version > $forgotten + 1 AND NOT EXISTS { (:Change {version: change.version - 1}) }
RETURN change.version - 1 AS version
ORDER BY version
LIMIT $limit
