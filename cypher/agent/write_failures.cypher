// Links that agents could not open, after those that are noted already, whoever noted them; the newest $kept of each broker.
// $rows: [{broker, failure}], failure as JSON text. It runs under the overlay's lock, so none comes between. Every process
// reads of them when it hears of the change, the one that writes too: it may be answered by an error, and then settle the
// commit without them.
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
SET broker.failures = (coalesce(broker.failures, []) + [row.failure])[-$kept..]
