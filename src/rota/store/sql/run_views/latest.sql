-- The newest run of each of a tenant's jobs, unfinished or finished. (job, id) are compared as a
-- row, or the planner may scan the index of all ids until it meets the job.
with newest as (
    select
        w.job_id,
        w.id
    from rota.live_runs as w
    where
        w.job_id = any(:job_ids::uuid[])
        and w.tenant_id = :tenant_id::integer
        and w.state in ('blocked', 'queued', 'retrying')
        and w.trigger <> 'graph'
    union all
    select
        h.job_id,
        h.id
    from rota.live_runs as h
    where
        h.job_id = any(:job_ids::uuid[])
        and h.tenant_id = :tenant_id::integer
        and h.state in ('running', 'cancelling')
        and h.trigger <> 'graph'
    union all
    select
        i.job_id,
        e.id
    from unnest(:job_ids::uuid[]) as i (job_id)
    cross join lateral (
        select r.id
        from rota.runs as r
        where
            (r.job_id, r.id) >= (i.job_id, :from_id::uuid)
            and r.job_id <= i.job_id
            and r.id >= :from_id::uuid
            and r.trigger <> 'graph'
            and r.tenant_id = :tenant_id::integer
        order by r.job_id desc, r.id desc
        limit 1
    ) as e
)

select distinct on (n.job_id)
    n.job_id,
    n.id
from newest as n
order by n.job_id asc, n.id desc;
