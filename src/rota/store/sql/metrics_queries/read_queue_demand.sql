-- The demand of one queue, of all tenants or of one; as read_demands.sql. A tenant's own pause of
-- the queue counts as well.
with horizon as materialized (
    select rota.now() + :horizon::interval as until
),

waiting as materialized (
    select counted.ready_at
    from (
        (
            select l.ready_at
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is null
                and l.queue_id = :queue_id::integer
                and (:tenant_id::integer is null or l.tenant_id = :tenant_id::integer)
                and l.ready_at <= (select z.until from horizon as z)
            limit :most::integer
        )
        union all
        (
            select l.ready_at
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is not null
                and l.queue_id = :queue_id::integer
                and (:tenant_id::integer is null or l.tenant_id = :tenant_id::integer)
                and l.ready_at <= (select z.until from horizon as z)
            limit :most::integer
        )
    ) as counted
),

due as materialized (
    select head.number
    from rota.shards as h
    cross join
        lateral (
            (
                select count(*) as number
                from rota.cursors as c
                where
                    c.fire_at is not null
                    and c.shard = h.id
                    and c.fire_at <= (select z.until from horizon as z)
                    and c.queue_id = :queue_id::integer
                    and (:tenant_id::integer is null or c.tenant_id = :tenant_id::integer)
            )
            union all
            (
                select count(*) as number
                from rota.scheduled_runs as s
                where
                    s.shard = h.id
                    and s.due_at <= (select z.until from horizon as z)
                    and s.queue_id = :queue_id::integer
                    and (:tenant_id::integer is null or s.tenant_id = :tenant_id::integer)
            )
        ) as head
)

select
    q.name as queue,
    case
        when pause.is_paused then 0
        else (
            select count(*) from waiting as w
            where w.ready_at <= (select rota.now())
        )
    end as ready,
    (
        select count(*)
        from rota.live_runs as l
        where
            l.state in ('running', 'cancelling')
            and l.queue_id = :queue_id::integer
            and (:tenant_id::integer is null or l.tenant_id = :tenant_id::integer)
    ) as running,
    case
        when pause.is_paused then 0
        else (
            select count(*) from waiting as w
            where w.ready_at > (select rota.now())
        )
        + (select coalesce(sum(d.number), 0)::bigint from due as d)
    end as upcoming
from rota.queues as q
cross join
    lateral (
        select
            q.paused_at is not null
            or exists (
                select 1 from rota.tenant_queues as tq
                where
                    tq.tenant_id = :tenant_id::integer
                    and tq.queue_id = q.id
                    and tq.paused_at is not null
            ) as is_paused
    ) as pause
where q.id = :queue_id::integer;
