// Leases and acknowledgements that other processes have written from $since on, and now, by the same clock. $by: the process
// that asks. Where $since is null, all that anybody has written, and failed links.
RETURN datetime() AS now, COLLECT {
  MATCH (broker:Broker)
  WHERE CASE
    WHEN $since IS NULL THEN broker.told_at IS NOT NULL OR broker.failures IS NOT NULL
    ELSE broker.told_at >= $since AND (broker.lease_by <> $by OR broker.acked_by <> $by)
  END
  RETURN [broker.id, broker.lease_seconds, broker.lease_until, broker.acked, broker.failures]
} AS told
