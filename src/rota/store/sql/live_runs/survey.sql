-- The lanes (tenant, priority) of a queue that hold waiting runs and are not in the given list. The
-- list is sorted and cuts the index into gaps; each gap is scanned by hopping from lane to lane. A
-- known lane is never entered, so the dead entries before its head cost nothing here, even while a
-- foreign snapshot keeps vacuum from removing them (docs/adr/0009-claims.md).
with recursive edges as (
    select
        k.tenant_id,
        k.priority
    from unnest(:tenant_ids::integer[], :priorities::smallint[]) as k (tenant_id, priority)
    union all
    select
        2147483647,
        0::smallint
),

gaps as (
    select
        e.tenant_id as to_tenant,
        e.priority as to_priority,
        lag(e.tenant_id, 1, -1) over in_order as from_tenant,
        lag(e.priority, 1, 0::smallint) over in_order as from_priority
    from edges as e
    window in_order as (order by e.tenant_id, e.priority)
),

hops as (
    select
        g.from_tenant as tenant_id,
        g.from_priority as priority,
        null::timestamptz as head_at,
        g.to_tenant,
        g.to_priority
    from gaps as g
    union all
    select
        n.tenant_id,
        n.priority,
        n.ready_at,
        h.to_tenant,
        h.to_priority
    from hops as h
    cross join lateral (
        select
            l.tenant_id,
            l.priority,
            l.ready_at
        from rota.live_runs as l
        where
            l.state in ('queued', 'retrying')
            and l.gates is null
            and l.queue_id = :queue_id::integer
            and (l.tenant_id, l.priority) > (h.tenant_id, h.priority)
            and (l.tenant_id, l.priority) < (h.to_tenant, h.to_priority)
        order by l.tenant_id asc, l.priority asc, l.ready_at asc
        limit 1
    ) as n
)

select
    hops.tenant_id,
    hops.priority,
    hops.head_at
from hops
where hops.head_at is not null
limit :most::integer;
