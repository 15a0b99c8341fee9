// Links that agents could not open. $rows: [{broker, failures}], failures as JSON text.
UNWIND $rows AS row
MATCH (broker:Broker {id: row.broker})
SET broker.failures = row.failures
