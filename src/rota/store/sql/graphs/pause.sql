-- Pause an unfinished graph run: running steps continue, nothing new begins. The caller has locked
-- it.
update rota.graph_runs as g
set paused_at = rota.now()
where
    g.run_id = :run_id::uuid
    and g.paused_at is null
    and g.ended_at is null
returning g.run_id as id;
