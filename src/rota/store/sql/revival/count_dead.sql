-- How many dead letters of a tenant match, counted no further than asked.
select count(*)::integer as found
from (
    select 1
    from rota.runs as r
    inner join rota.kinds as k on r.kind_id = k.id
    inner join rota.queues as q on r.queue_id = q.id
    where
        r.tenant_id = :tenant_id::integer
        and r.state in ('dead', 'lost', 'quarantined')
        and r.dropped_at is null
        and r.trigger <> 'graph'
        and (
            :of_deleted::boolean
            or exists (
                select 1 from rota.jobs as j
                where
                    j.id = r.job_id
                    and j.state <> 'deleted'
            )
        )
        and (:job_id::uuid is null or r.job_id = :job_id::uuid)
        and (:kind::text is null or k.name = :kind::text)
        and (:queue::text is null or q.name = :queue::text)
        and (:error::text is null or r.reason ->> 'type' = :error::text)
        and (:since::timestamptz is null or r.finished_at >= :since::timestamptz)
        and (:until::timestamptz is null or r.finished_at < :until::timestamptz)
    limit :most::integer
) as counted;
