// Versions whose links agents say are open; the newest counts, whichever process heard of it. $rows: [{broker, version}];
// $by: the process that writes. What is set first locks the broker: nobody else's version can come between.
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
SET broker.told_at = datetime()
WITH broker, row
WHERE coalesce(broker.acked, -1) < row.version
SET broker.acked = row.version, broker.acked_by = $by
