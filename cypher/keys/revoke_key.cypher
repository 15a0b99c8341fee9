// The key $id works no more; one that was revoked before keeps its time. Answers nothing for an id nobody has.
MATCH (key:Key {id: $id})
SET key.revoked_at = coalesce(key.revoked_at, datetime())
REMOVE key.living_name
RETURN key.id AS id, key.name AS name, key.hash AS hash, key.scope AS scope,
       key.created_at AS created_at, key.revoked_at AS revoked_at
