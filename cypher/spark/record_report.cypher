// What a job did and what it took. $rebuild, $report: JSON text.
MATCH (rebuild:Rebuild {id: $rebuild})
SET rebuild.report = $report
RETURN rebuild.state AS state
