-- The latest runs of each of a tenant's jobs: a running one, and the newest of those that ended.
-- (job, id) are compared as a row, or the planner may scan the index of all ids until it meets the
-- job. The limit is a literal, so that the planner knows how few rows there are.
(
    select distinct on (h.job_id)
        h.job_id,
        h.id,
        h.state,
        h.scheduled_at,
        h.started_at,
        null::timestamptz as finished_at,
        null::jsonb as reason
    from rota.live_runs as h
    where
        h.job_id = any(:job_ids::uuid[])
        and h.tenant_id = :tenant_id::integer
        and h.state in ('running', 'cancelling')
        and h.trigger <> 'graph'
    order by h.job_id asc, h.id desc
)
union all
select
    i.job_id,
    e.id,
    e.state,
    e.scheduled_at,
    e.started_at,
    e.finished_at,
    e.reason
from unnest(:job_ids::uuid[]) as i (job_id)
cross join lateral (
    select
        r.id,
        r.state,
        r.scheduled_at,
        r.started_at,
        r.finished_at,
        r.reason
    from rota.runs as r
    where
        (r.job_id, r.id) >= (i.job_id, :from_id::uuid)
        and r.job_id <= i.job_id
        and r.id >= :from_id::uuid
        and r.trigger <> 'graph'
        and r.tenant_id = :tenant_id::integer
    order by r.job_id desc, r.id desc
    limit 20
) as e;
