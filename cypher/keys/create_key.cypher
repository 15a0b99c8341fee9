// A new key. $id, $name, $hash, $scope. living_name is unique, and goes when the key is revoked: two keys that work
// never share a name.
CREATE (key:Key {id: $id, name: $name, living_name: $name, hash: $hash, scope: $scope, created_at: datetime()})
RETURN key.id AS id, key.name AS name, key.hash AS hash, key.scope AS scope,
       key.created_at AS created_at, key.revoked_at AS revoked_at
