-- What became of ticks, by the ids of the runs they would have: in which state, or nothing.
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
