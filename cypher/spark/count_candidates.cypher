// How many candidates a rebuild has. $rebuild: its id.
MATCH ()-[candidate:CANDIDATE {rebuild: $rebuild}]->()
RETURN count(candidate) AS candidates
