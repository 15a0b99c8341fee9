// A key is found by its id, which is part of the secret its owner holds.
CREATE CONSTRAINT key_id IF NOT EXISTS
FOR (key:Key) REQUIRE key.id IS UNIQUE
