-- Reopen a graph run that has ended, to continue from its failed steps in the next round. The
-- caller has locked it and retries its run in the same transaction.
update rota.graph_runs as g
set
    board = :board::text,
    round = g.round + 1,
    told = :told::jsonb,
    paused_at = null,
    ended_at = null
where
    g.run_id = :run_id::uuid
    and g.ended_at is not null
returning g.round;
