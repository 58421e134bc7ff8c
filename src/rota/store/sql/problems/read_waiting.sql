-- The ready runs of a tenant that wait, by queue and kind: how many, since when the oldest waits,
-- which one that is, and whether a live worker may claim them. Reads the oldest runs of each
-- priority of a limited number of queues, so that a kind behind many runs may be missed.
with waited as materialized (
    select
        q.id,
        q.name
    from rota.queues as q
    where
        exists (
            select 1 from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is null
                and l.queue_id = q.id
                and l.tenant_id = :tenant_id::integer
        )
        or exists (
            select 1 from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is not null
                and l.queue_id = q.id
                and l.tenant_id = :tenant_id::integer
        )
    order by q.id
    limit :most_queues::integer
),

oldest as materialized (
    select
        w.id as queue_id,
        head.id,
        head.kind_id,
        head.ready_at
    from waited as w
    cross join generate_series(0, 9) as lane (priority)
    cross join
        lateral (
            select
                l.id,
                l.kind_id,
                l.ready_at
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is null
                and l.queue_id = w.id
                and l.tenant_id = :tenant_id::integer
                and l.priority = lane.priority
                and l.ready_at <= (select rota.now())
            order by l.ready_at asc, l.id asc
            limit :most::integer
        ) as head
    union all
    select
        w.id as queue_id,
        gated.id,
        gated.kind_id,
        gated.ready_at
    from waited as w
    cross join
        lateral (
            select
                l.id,
                l.kind_id,
                l.ready_at
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is not null
                and l.queue_id = w.id
                and l.tenant_id = :tenant_id::integer
                and l.ready_at <= (select rota.now())
            limit :most::integer
        ) as gated
),

waits as (
    select
        o.queue_id,
        o.kind_id,
        count(*) as number,
        min(o.ready_at) as oldest_at,
        (array_agg(o.id order by o.ready_at asc, o.id asc))[1] as sample_id
    from oldest as o
    group by o.queue_id, o.kind_id
)

select
    :tenant_id::integer as tenant_id,
    t.name as tenant,
    w.name as queue,
    k.name as kind,
    g.number,
    g.oldest_at,
    g.sample_id,
    exists(
        select 1 from rota.sessions as s
        where
            s.role = 'worker'
            and s.expires_at > (select rota.now())
            and not s.draining
            and g.queue_id = any(s.queues)
            and g.kind_id = any(s.kinds)
            and rota.serves_tenant(s.serves, g.queue_id, t.name)
    ) as is_served
from waits as g
inner join waited as w on g.queue_id = w.id
inner join rota.kinds as k on g.kind_id = k.id
inner join rota.tenants as t on t.id = :tenant_id::integer
order by g.oldest_at asc, w.name asc, k.name asc;
