// One record says which version of this folder the database has.
CREATE CONSTRAINT schema_name IF NOT EXISTS
FOR (schema:Schema) REQUIRE schema.name IS UNIQUE
