// The answers that Idempotency-Keys got before. $keys: actor and key of each.
UNWIND $keys AS key
MATCH (answer:Idempotency {key: key})
RETURN answer.key AS key, answer.fingerprint AS fingerprint, answer.answer AS answer
