// When version $version was committed; no row where its record is not kept.
MATCH (change:Change {version: $version})
RETURN change.at AS at
