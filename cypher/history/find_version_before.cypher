// The newest version that was committed before $moment; null where none was.
MATCH (change:Change)
WHERE change.at < $moment
RETURN max(change.version) AS version
