// Forget answers older than $hours, a batch at a time.
MATCH (answer:Idempotency)
WHERE answer.at < datetime() - duration({hours: $hours})
CALL (answer) { DELETE answer } IN TRANSACTIONS OF 5000 ROWS
