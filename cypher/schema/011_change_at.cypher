// The history is asked for by time, and old records are removed by time.
CREATE INDEX change_at IF NOT EXISTS
FOR (change:Change) ON (change.at)
