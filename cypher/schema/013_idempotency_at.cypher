// Old answers are found by time.
CREATE INDEX idempotency_at IF NOT EXISTS
FOR (answer:Idempotency) ON (answer.at)
