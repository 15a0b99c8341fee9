// Wait until new indexes can be used. $seconds: how long at the most.
CALL db.awaitIndexes($seconds)
