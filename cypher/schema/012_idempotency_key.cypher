// A repeated request finds the answer of the first one.
CREATE CONSTRAINT idempotency_key IF NOT EXISTS
FOR (answer:Idempotency) REQUIRE answer.key IS UNIQUE
