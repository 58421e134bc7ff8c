-- One run of a tenant, alive or finished. Another tenant's is not found.
select
    l.id,
    l.job_id,
    l.state,
    l.scheduled_at,
    l.priority,
    l.payload
from rota.live_runs as l
where
    l.id = :id::uuid
    and l.tenant_id = :tenant_id::integer
union all
select
    r.id,
    r.job_id,
    r.state,
    r.scheduled_at,
    r.priority,
    r.payload
from rota.runs as r
where
    r.id = :id::uuid
    and r.tenant_id = :tenant_id::integer;
