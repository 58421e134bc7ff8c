-- An unfinished run, as predictions need it.
select
    l.id as run_id,
    l.job_id,
    l.scheduled_at,
    l.due_at,
    case when l.state in ('running', 'cancelling', 'blocked') then l.started_at end as started_at
from rota.live_runs as l
where
    l.tenant_id = :tenant_id::integer
    and l.id = :run_id::uuid;
