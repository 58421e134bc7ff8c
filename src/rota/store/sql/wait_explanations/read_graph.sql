-- The step states of a tenant's graph run, with the definition that names its steps.
select
    g.board,
    g.path,
    g.paused_at,
    d.definition
from rota.graph_runs as g
left join rota.graphs as d on g.graph_id = d.id
where
    g.run_id = :run_id::uuid
    and g.tenant_id = :tenant_id::integer;
