-- Like survey, limited to these tenants: the lanes of a queue that hold waiting runs and are not in
-- the given list. The known lanes of a tenant cut its part of the index into gaps; each gap is
-- scanned by hopping from lane to lane, and lanes of other tenants are never read.
with recursive edges as (
    select
        k.tenant_id,
        k.priority
    from
        unnest(:tenant_ids::integer[], :priorities::smallint[])
            as k (tenant_id, priority)
    union all
    select
        s.tenant_id,
        32767::smallint
    from unnest(:served_ids::integer[]) as s (tenant_id)
),

gaps as (
    select
        e.tenant_id,
        e.priority as to_priority,
        lag(e.priority, 1, (-1)::smallint) over in_order as from_priority
    from edges as e
    window in_order as (partition by e.tenant_id order by e.priority)
),

hops as (
    select
        g.tenant_id,
        g.from_priority as priority,
        null::timestamptz as head_at,
        g.to_priority
    from gaps as g
    union all
    select
        h.tenant_id,
        n.priority,
        n.ready_at,
        h.to_priority
    from hops as h
    cross join lateral (
        select
            l.priority,
            l.ready_at
        from rota.live_runs as l
        where
            l.state in ('queued', 'retrying')
            and l.gates is null
            and l.queue_id = :queue_id::integer
            and l.tenant_id = h.tenant_id
            and l.priority > h.priority
            and l.priority < h.to_priority
        order by l.priority asc, l.ready_at asc
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
