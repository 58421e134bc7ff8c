-- The ready runs of all tenants that wait, by queue, kind and tenant, as in read_waiting.sql. Reads
-- a limited number of runs of each of a limited number of queues.
with heads as materialized (
    select
        q.id as queue_id,
        q.name as queue,
        head.id,
        head.kind_id,
        head.tenant_id,
        head.ready_at
    from (
        select
            n.id,
            n.name
        from rota.queues as n
        where
            exists (
                select 1 from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is null
                    and l.queue_id = n.id
            )
            or exists (
                select 1 from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is not null
                    and l.queue_id = n.id
            )
        order by n.id
        limit :most_queues::integer
    ) as q
    cross join
        lateral (
            (
                select
                    l.id,
                    l.kind_id,
                    l.tenant_id,
                    l.ready_at
                from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is null
                    and l.queue_id = q.id
                    and l.ready_at <= (select rota.now())
                limit :most::integer
            )
            union all
            (
                select
                    l.id,
                    l.kind_id,
                    l.tenant_id,
                    l.ready_at
                from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is not null
                    and l.queue_id = q.id
                    and l.ready_at <= (select rota.now())
                limit :most::integer
            )
        ) as head
),

waits as (
    select
        h.queue_id,
        h.queue,
        h.kind_id,
        h.tenant_id,
        count(*) as number,
        min(h.ready_at) as oldest_at,
        (array_agg(h.id order by h.ready_at asc, h.id asc))[1] as sample_id
    from heads as h
    group by h.queue_id, h.queue, h.kind_id, h.tenant_id
)

select
    g.tenant_id,
    t.name as tenant,
    g.queue,
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
inner join rota.kinds as k on g.kind_id = k.id
inner join rota.tenants as t on g.tenant_id = t.id
order by g.oldest_at asc, g.queue asc, k.name asc
limit :most_groups::integer;
