// Versions whose links agents say are open; the newest counts, whichever process heard of it. $rows: [{broker, version}].
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
SET broker.acked = CASE WHEN broker.acked > row.version THEN broker.acked ELSE row.version END
