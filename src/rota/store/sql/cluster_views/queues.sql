-- The queues of a tenant, the limits on its runs there, and its waiting and running runs in them.
-- Or every queue, with the limits for all tenants. A queue belongs to a tenant that created it,
-- named it in a job, or has a run there. Counting stops at 10,001, the cost of "more than 10,000".
-- The first five columns of an index end with ready_at and id, so each priority is read separately.
with held as (
    select
        r.queue_id,
        count(*) as running
    from rota.live_runs as r
    where
        r.state in ('running', 'cancelling')
        and r.tenant_id = :tenant_id::integer
    group by r.queue_id
),

shown as materialized (
    select q.*
    from rota.queues as q
    where
        :all_tenants::boolean
        or exists (
            select 1 from rota.tenant_queues as tq
            where
                tq.tenant_id = :tenant_id::integer
                and tq.queue_id = q.id
        )
        or q.id in (select h.queue_id from held as h)
        or exists (
            select 1 from rota.live_runs as r
            where
                r.state in ('queued', 'retrying')
                and r.gates is null
                and r.queue_id = q.id
                and r.tenant_id = :tenant_id::integer
        )
),

lanes as (
    select
        q.id as queue_id,
        p.priority::smallint as priority
    from shown as q
    cross join generate_series(0, 9) as p (priority)
),

open_lanes as (
    select
        l.queue_id,
        (
            select count(*) from (
                select 1 from rota.live_runs as r
                where
                    r.queue_id = l.queue_id
                    and r.tenant_id = :tenant_id::integer
                    and r.priority = l.priority
                    and r.ready_at <= (select rota.now())
                    and r.state in ('queued', 'retrying')
                    and r.gates is null
                limit 10001
            ) as n
        ) as waiting,
        (
            select count(*) from (
                select 1 from rota.live_runs as r
                where
                    r.queue_id = l.queue_id
                    and r.tenant_id = :tenant_id::integer
                    and r.priority = l.priority
                    and r.ready_at > (select rota.now())
                    and r.state in ('queued', 'retrying')
                    and r.gates is null
                limit 10001
            ) as n
        ) as later,
        (
            select r.ready_at from rota.live_runs as r
            where
                r.queue_id = l.queue_id
                and r.tenant_id = :tenant_id::integer
                and r.priority = l.priority
                and r.ready_at <= (select rota.now())
                and r.state in ('queued', 'retrying')
                and r.gates is null
            order by r.ready_at
            limit 1
        ) as oldest_at
    from lanes as l
),

gated as (
    select
        g.queue_id,
        count(*) filter (where g.ready_at <= (select rota.now())) as waiting,
        count(*) filter (where g.ready_at > (select rota.now())) as later,
        min(g.ready_at) filter (where g.ready_at <= (select rota.now())) as oldest_at
    from shown as q
    cross join
        lateral (
            select
                r.queue_id,
                r.ready_at
            from rota.live_runs as r
            where
                r.queue_id = q.id
                and r.tenant_id = :tenant_id::integer
                and r.state in ('queued', 'retrying')
                and r.gates is not null
            limit 10001
        ) as g
    group by g.queue_id
),

waits as (
    select
        w.queue_id,
        sum(w.waiting) as waiting,
        sum(w.later) as later,
        min(w.oldest_at) as oldest_at
    from (
        select
            o.queue_id,
            o.waiting,
            o.later,
            o.oldest_at
        from open_lanes as o
        union all
        select
            g.queue_id,
            g.waiting,
            g.later,
            g.oldest_at
        from gated as g
    ) as w
    group by w.queue_id
)

select
    q.name,
    q.paused_at is not null as is_paused_for_all,
    case
        when :all_tenants::boolean then q.paused_at
        else coalesce(q.paused_at, tq.paused_at)
    end as paused_at,
    a.most,
    a.rate_count,
    a.rate_per,
    a.rate_burst,
    coalesce(a.in_order, false) as in_order,
    least(w.waiting, 10001)::integer as waiting,
    least(w.later, 10001)::integer as later,
    least(coalesce(h.running, 0), 10001)::integer as running,
    w.oldest_at
from shown as q
inner join waits as w on q.id = w.queue_id
left join held as h on q.id = h.queue_id
left join rota.tenant_queues as tq
    on
        q.id = tq.queue_id
        and tq.tenant_id = :tenant_id::integer
        and not :all_tenants::boolean
left join rota.gates as a on a.id = coalesce(tq.gate_id, q.gate_id)
order by q.name;
