// Remove what an interrupted import left behind, a batch at a time.
MATCH (rest:Broker|Topic)
CALL (rest) { DETACH DELETE rest } IN TRANSACTIONS OF 5000 ROWS
