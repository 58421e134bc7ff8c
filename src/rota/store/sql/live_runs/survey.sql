-- The lanes (tenant, priority) of a queue that hold waiting runs and are not in the given list.
-- The list is sorted and cuts the index into gaps; each gap is walked by hopping from lane to lane.
-- A known lane is never entered, so the dead entries before its head cost nothing here, even
-- while a foreign snapshot keeps vacuum from removing them (docs/adr/0009-claims.md).
with recursive known as (
    select
        k.tenant_id,
        k.priority,
        row_number() over (order by k.tenant_id, k.priority) as place
    from
        unnest(:tenant_ids::integer[], :priorities::smallint[]) as k (tenant_id, priority)
),

gaps as (
    select
        coalesce(a.tenant_id, -1) as from_tenant,
        coalesce(a.priority, (-1)::smallint) as from_priority,
        coalesce(b.tenant_id, 2147483647) as to_tenant,
        coalesce(b.priority, (-1)::smallint) as to_priority
    from generate_series(0, cardinality(:tenant_ids::integer[])) as edge (place)
    left join known as a on edge.place = a.place
    left join known as b on edge.place + 1 = b.place
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
