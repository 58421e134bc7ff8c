-- The worker processes, the living first; without the dead unless they are asked for. What a worker
-- has in hand is counted from the runs, not from what it last said. With a tenant only those that
-- take runs of it, and the queues from which they do; a process that carries out one run from
-- outside has no queue, and is shown to its own tenant.
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
    s.beat_at
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
