-- The states of ticks, by the ids of the runs that they would have; no row without a run.
select
    l.id,
    l.state
from rota.live_runs as l
where
    l.id = any(:ids::uuid[])
    and l.tenant_id = :tenant_id::integer
union all
select
    r.id,
    r.state
from rota.runs as r
where
    r.id = any(:ids::uuid[])
    and r.tenant_id = :tenant_id::integer;
