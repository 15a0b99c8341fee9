// Remember answers, in the transaction of their changes. $rows: [{key, fingerprint, answer}].
UNWIND $rows AS row
CREATE (:Idempotency {key: row.key, fingerprint: row.fingerprint, answer: row.answer, at: datetime()})
