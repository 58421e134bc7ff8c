-- The worker processes, living ones first; dead ones only on request. The runs that a worker holds
-- are counted from the runs, not from its last report. With a tenant, only workers that claim its
-- runs, and the queues from which they do; a process that executes one external run has no queue
-- and is shown to its own tenant.
with held as materialized (
    select
        r.session_id,
        count(*) as number
    from rota.live_runs as r
    where r.state in ('running', 'cancelling')
    group by r.session_id
)

select
    s.id,
    s.name,
    s.expires_at > (select rota.now()) as is_alive,
    s.draining,
    s.slots,
    coalesce(h.number, 0) as running,
    array(
        select q.name from rota.queues as q
        where
            q.id = any(s.queues)
            and (
                :tenant::text is null
                or rota.serves_tenant(s.serves, q.id, :tenant::text)
            )
        order by q.name
    ) as queues,
    array(
        select k.name from rota.kinds as k
        where k.id = any(s.kinds)
        order by k.name
    ) as kinds,
    s.serves,
    s.started_at,
    s.beat_at,
    s.observe_url,
    s.version
from rota.sessions as s
left join held as h on s.id = h.session_id
where
    s.role = 'worker'
    and (:with_dead::boolean or s.expires_at > (select rota.now()))
    and (
        :tenant::text is null
        or (
            cardinality(s.queues) = 0
            and s.serves is not null
            and rota.serves_tenant(s.serves, 0, :tenant::text)
        )
        or exists (
            select 1 from unnest(s.queues) as served (queue_id)
            where rota.serves_tenant(s.serves, served.queue_id, :tenant::text)
        )
    )
order by is_alive desc, s.started_at desc, s.id desc
limit :most::integer;
