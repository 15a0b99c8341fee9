// A rebuild is known by its id.
CREATE CONSTRAINT rebuild_id IF NOT EXISTS
FOR (rebuild:Rebuild) REQUIRE rebuild.id IS UNIQUE
