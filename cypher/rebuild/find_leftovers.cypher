// Under which ids links are stored of rebuilds in one of $states: their own, and with $suffix those of before an activation.
// What a rebuild's plan holds is not read. The type is asked for by its name as a text, as in create_candidates.
MATCH (rebuild:Rebuild)
WHERE rebuild.state IN $states
UNWIND [rebuild.id, rebuild.id + $suffix] AS links
WITH links
WHERE EXISTS { MATCH ()-[:CANDIDATE {rebuild: links}]->() }
RETURN links
