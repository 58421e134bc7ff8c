-- Runs that a worker holds since before a time, the longest running first: those of jobs that have
-- a condition on their duration, and those of tenants with such rules. Runs of backfills, replays
-- and people do not count.
select
    r.id as run_id,
    r.job_id,
    r.tenant_id,
    r.started_at,
    r.graph_run_id,
    r.step,
    j.name as job_name,
    j.labels,
    j.expect,
    j.alert,
    q.name as queue,
    k.name as task
from rota.live_runs as r
left join rota.jobs as j on r.job_id = j.id
inner join rota.queues as q on r.queue_id = q.id
inner join rota.kinds as k on r.kind_id = k.id
where
    r.state in ('running', 'cancelling')
    and r.started_at <= :before::timestamptz
    and r.trigger in ('tick', 'event', 'api', 'graph')
    and r.member is null
    and (j.expect ? 'max_duration' or r.tenant_id = any(:tenant_ids::integer[]))
order by r.started_at
limit :most::integer;
