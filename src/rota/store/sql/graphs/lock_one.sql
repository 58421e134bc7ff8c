-- Lock one graph run of a tenant, to change it for a caller.
select
    g.run_id,
    g.tenant_id,
    g.job_id,
    g.graph_id,
    g.path,
    g.board,
    g.round,
    g.rounds,
    g.told,
    g.paused_at,
    g.ended_at is not null as has_ended
from rota.graph_runs as g
where
    g.run_id = :run_id::uuid
    and g.tenant_id = :tenant_id::integer
for update;
