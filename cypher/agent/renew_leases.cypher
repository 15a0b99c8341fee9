// Leases that run longer. $rows: [{broker, seconds, until, heard}]; where the broker was not heard of, it is our own grace:
// that never shortens a lease, nor changes its term, as another process may know better.
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
WHERE row.heard OR broker.lease_until < row.until
SET broker.lease_seconds = CASE WHEN row.heard THEN row.seconds ELSE broker.lease_seconds END, broker.lease_until = row.until
