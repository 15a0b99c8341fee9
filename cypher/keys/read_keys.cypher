// Every key that was ever made, oldest first; what is kept of the secret is its hash.
MATCH (key:Key)
RETURN key.id AS id, key.name AS name, key.hash AS hash, key.scope AS scope,
       key.created_at AS created_at, key.revoked_at AS revoked_at
ORDER BY key.created_at, key.id
