// Two keys that work never share a name, whichever process makes them; a revoked key has no living_name.
CREATE CONSTRAINT key_living_name IF NOT EXISTS
FOR (key:Key) REQUIRE key.living_name IS UNIQUE
