// A rebuild's links are counted, activated and dropped by the rebuild's id.
CREATE INDEX candidate_rebuild IF NOT EXISTS
FOR ()-[candidate:CANDIDATE]-() ON (candidate.rebuild)
