// Whether anything is left of a rebuild's links. $rebuild: its id.
MATCH ()-[candidate:CANDIDATE {rebuild: $rebuild}]->()
RETURN 1 AS one
LIMIT 1
