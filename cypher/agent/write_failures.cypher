// Links that agents could not open, after those that are noted already, whoever noted them; the newest $kept of each broker.
// $rows: [{broker, failure}], failure as JSON text. It runs under the overlay's lock, so none comes between.
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
SET broker.failures = (coalesce(broker.failures, []) + [row.failure])[-$kept..]
