// The trend after version $after and up to $through, one row for every $stride versions: the links opened and closed
// in them, and the figures that the last of them left.
MATCH (change:Change)
WHERE change.version > $after AND change.version <= $through
WITH (change.version - 1) / $stride AS step, max(change.version) AS version,
     sum(size(change.opened_a)) AS opened, sum(size(change.closed_a)) AS closed
MATCH (last:Change {version: version})
RETURN version, last.at AS at, last.brokers AS brokers, last.links AS links, last.max_degree AS max_degree, opened, closed
ORDER BY version
