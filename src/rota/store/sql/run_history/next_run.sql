-- The run of a job to predict: the unfinished run that is due first, else the next tick.
select
    l.id as run_id,
    l.scheduled_at,
    l.due_at,
    case when l.state in ('running', 'cancelling', 'blocked') then l.started_at end as started_at
from (
    select
        v.id,
        v.scheduled_at,
        v.due_at,
        v.state,
        v.started_at
    from rota.live_runs as v
    where
        v.tenant_id = :tenant_id::integer
        and v.job_id = :job_id::uuid
        and v.state in ('blocked', 'queued', 'retrying')
        and v.trigger <> 'graph'
    union all
    select
        v.id,
        v.scheduled_at,
        v.due_at,
        v.state,
        v.started_at
    from rota.live_runs as v
    where
        v.tenant_id = :tenant_id::integer
        and v.job_id = :job_id::uuid
        and v.state in ('running', 'cancelling')
        and v.trigger <> 'graph'
) as l
union all
select
    null::uuid as run_id,
    c.tick_at as scheduled_at,
    c.fire_at as due_at,
    null::timestamptz as started_at
from rota.cursors as c
where
    c.tenant_id = :tenant_id::integer
    and c.job_id = :job_id::uuid
    and c.fire_at is not null
order by due_at, run_id nulls last
limit 1;
