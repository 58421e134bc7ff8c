-- Whether the holder of a key waits or runs. A job waits as long as it has a future tick. One
-- snapshot: a run that is claimed or put back meanwhile is seen once, never as neither.
with alive as (
    select l.state
    from rota.live_runs as l
    where
        l.tenant_id = :tenant_id::integer
        and l.id = :run_id::uuid
    union all
    select l.state
    from rota.live_runs as l
    where
        l.tenant_id = :tenant_id::integer
        and :run_id::uuid is null
        and l.job_id = :job_id::uuid
        and l.state in ('blocked', 'queued', 'retrying')
        and l.trigger <> 'graph'
    union all
    select l.state
    from rota.live_runs as l
    where
        l.tenant_id = :tenant_id::integer
        and :run_id::uuid is null
        and l.job_id = :job_id::uuid
        and l.state in ('running', 'cancelling')
        and l.trigger <> 'graph'
    union all
    -- A future tick counts as a waiting run.
    select 'queued'::rota.run_state as state
    from rota.cursors as c
    where
        c.job_id = :job_id::uuid
        and :run_id::uuid is null
    union all
    -- So does a scheduled submission.
    select 'queued'::rota.run_state as state
    from rota.scheduled_runs as s
    where
        s.tenant_id = :tenant_id::integer
        and s.id = :job_id::uuid
    union all
    select 'queued'::rota.run_state as state
    from rota.scheduled_runs as s
    where
        s.tenant_id = :tenant_id::integer
        and s.job_id = :job_id::uuid
)

select
    count(*) filter (where a.state in ('blocked', 'queued', 'retrying')) > 0 as waits,
    count(*) filter (where a.state in ('running', 'cancelling')) > 0 as runs
from alive as a;
