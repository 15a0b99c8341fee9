// Remove the records up to version $through, the oldest first, a batch at a time.
MATCH (change:Change)
WHERE change.version <= $through
WITH change ORDER BY change.version
CALL (change) { DETACH DELETE change } IN TRANSACTIONS OF 1000 ROWS
