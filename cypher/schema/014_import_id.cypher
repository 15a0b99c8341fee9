// An import is known by its id.
CREATE CONSTRAINT import_id IF NOT EXISTS
FOR (import:Import) REQUIRE import.id IS UNIQUE
