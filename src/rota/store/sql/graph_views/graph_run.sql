-- A graph run of the tenant, with the definition of its graph.
select
    g.run_id,
    g.job_id,
    d.definition,
    g.path,
    g.board,
    g.round,
    g.rounds,
    g.told,
    g.started_at,
    g.paused_at,
    g.ended_at
from rota.graph_runs as g
inner join rota.graphs as d on g.graph_id = d.id
where
    g.run_id = :run_id::uuid
    and g.tenant_id = :tenant_id::integer;
