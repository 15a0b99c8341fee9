// Leases that run longer, or begin later. $rows: [{broker, seconds, until, heard}]; where the broker was not heard of, it is our
// own grace: that never shortens a lease, nor changes its term, as another process may know better: all read it again.
// $by: the process that writes. What is set first locks the broker: nobody else's lease can come between.
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
SET broker.told_at = datetime()
WITH broker, row
WHERE broker.lease_until < row.until OR row.heard AND (broker.lease_until IS NULL
   OR broker.lease_until - duration({seconds: broker.lease_seconds}) < row.until - duration({seconds: row.seconds}))
SET broker.lease_seconds = CASE WHEN row.heard THEN row.seconds ELSE broker.lease_seconds END,
    broker.lease_until = row.until, broker.lease_by = CASE WHEN row.heard THEN $by ELSE '' END
