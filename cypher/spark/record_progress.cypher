// A job says how far it is, and learns whether it is still wanted. $rebuild, $progress: JSON text.
// That somebody works on the rebuild is the manager's to say: a job that has lost it must not keep it from being given up.
MATCH (rebuild:Rebuild {id: $rebuild})
SET rebuild.progress = $progress
// All candidates together are a number that Neo4j keeps: whether it changes is how a job sees that its writing goes on.
RETURN rebuild.state AS state, coalesce(rebuild.cancelling, false) AS cancelling,
       COUNT { ()-[:CANDIDATE]->() } AS candidates
