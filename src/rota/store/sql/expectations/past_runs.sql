-- Ended runs of a tenant, newest first, for a rehearsal. Members of maps are left out.
select
    r.id,
    r.job_id,
    coalesce(r.name, j.name, k.name) as job_name,
    coalesce(r.labels, j.labels)::text as labels,
    k.name as task,
    q.name as queue,
    r.state::text as state,
    r.trigger::text as trigger,
    r.graph_run_id,
    r.step,
    r.scheduled_at,
    r.due_at,
    r.created_at,
    r.started_at,
    r.finished_at,
    case when r.state <> 'succeeded' then r.reason::text end as reason,
    case
        when r.state in ('dead', 'lost', 'quarantined') then rota.failure_fingerprint(r.reason)
    end as fingerprint,
    j.schedule ->> 'timezone' as timezone,
    j.created_at as job_created_at
from (
    select p.*
    from rota.runs as p
    where
        p.tenant_id = :tenant_id::integer
        and p.id >= :from_id::uuid
        and p.id < :before_id::uuid
    order by p.id desc
    limit :most::integer
) as r
left join rota.jobs as j on r.job_id = j.id
left join rota.kinds as k on r.kind_id = k.id
left join rota.queues as q on r.queue_id = q.id
order by r.id desc;
