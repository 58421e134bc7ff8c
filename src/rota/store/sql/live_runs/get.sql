-- Runs by id, unfinished or finished.
select
    l.id,
    l.job_id,
    l.state,
    l.attempt,
    l.failures,
    l.losses,
    l.scheduled_at,
    l.due_at,
    l.started_at,
    null::timestamptz as finished_at,
    l.session_id,
    null::jsonb as result,
    null::jsonb as reason
from rota.live_runs as l
where l.id = any(:ids::uuid[])
union all
select
    r.id,
    r.job_id,
    r.state,
    r.attempt,
    r.failures,
    r.losses,
    r.scheduled_at,
    r.due_at,
    r.started_at,
    r.finished_at,
    r.session_id,
    r.result,
    r.reason
from rota.tenants as t
inner join rota.runs as r on t.id = r.tenant_id
where r.id = any(:ids::uuid[]);
