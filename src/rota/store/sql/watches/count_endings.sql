-- How many runs of a task, a queue or a step ended within a window, and how many of them failed:
-- among a limited number of the newest runs of the tenant.
select
    count(*) as ended,
    count(*) filter (where n.state <> 'succeeded') as failed
from (
    select
        r.job_id,
        r.kind_id,
        r.queue_id,
        r.step,
        r.state,
        r.trigger,
        r.finished_at
    from rota.runs as r
    where
        r.tenant_id = :tenant_id::integer
        and r.id >= :from_id::uuid
    order by r.tenant_id desc, r.id desc
    limit :most::integer
) as n
inner join rota.kinds as k on n.kind_id = k.id
inner join rota.queues as q on n.queue_id = q.id
where
    n.finished_at >= :since::timestamptz
    and (:task::text is null or k.name = :task::text)
    and (:queue::text is null or q.name = :queue::text)
    and (:job_id::uuid is null or n.job_id = :job_id::uuid)
    and (
        n.trigger in ('tick', 'event', 'api') and :step::integer is null
        or n.step = :step::integer
    )
    and n.state in ('succeeded', 'dead', 'lost', 'quarantined', 'expired');
