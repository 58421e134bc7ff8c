-- Runs of steps by id, unfinished or finished.
select
    l.id,
    l.step,
    l.state,
    l.attempt,
    l.created_at,
    l.started_at,
    null::timestamptz as finished_at,
    null::jsonb as reason
from unnest(:ids::uuid[]) as i (id)
inner join rota.live_runs as l on i.id = l.id
where l.tenant_id = :tenant_id::integer
union all
select
    r.id,
    r.step,
    r.state,
    r.attempt,
    r.created_at,
    r.started_at,
    r.finished_at,
    r.reason
from unnest(:ids::uuid[]) as i (id)
inner join rota.runs as r on i.id = r.id
where r.tenant_id = :tenant_id::integer;
