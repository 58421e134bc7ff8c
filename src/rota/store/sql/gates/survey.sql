-- The lanes (first gate, priority) of a queue's gated runs whose first run is ready, round-robin:
-- from the lane after the given one to the last, then from the first to the given one. Hops from
-- lane to lane, so ten thousand runs at one gate cost as much as one. Whether a gate is open is
-- only a hint here; it is decided when the gate is locked. A gate that its holders keep shut costs
-- one hop; the holders are read once, and only if there are lanes at all. A gate of a tenant that
-- is not in the given list is not open to this worker; null means all.
with recursive hops as (
    select
        :after_gate::integer as gate_id,
        :after_priority::smallint as priority,
        null::timestamptz as head_at,
        2147483647 as to_gate,
        0::smallint as to_priority,
        0 as n
    where
        not exists (
            select 1 from rota.queues as q
            where
                q.id = :queue_id::integer
                and q.paused_at is not null
        )
    union all
    select
        next.gate_id,
        next.priority,
        next.ready_at,
        next.to_gate,
        next.to_priority,
        h.n + 1
    from hops as h
    cross join
        lateral (
            (
                select
                    l.gates[1] as gate_id,
                    l.priority,
                    l.ready_at,
                    h.to_gate,
                    h.to_priority
                from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is not null
                    and l.queue_id = :queue_id::integer
                    and (l.gates[1], l.priority) > (h.gate_id, h.priority)
                    and (l.gates[1], l.priority) < (h.to_gate, h.to_priority)
                order by l.gates[1] asc, l.priority asc, l.ready_at asc
                limit 1
            )
            union all
            (
                select
                    l.gates[1] as gate_id,
                    l.priority,
                    l.ready_at,
                    :after_gate::integer as to_gate,
                    (:after_priority::smallint + 1)::smallint as to_priority
                from rota.live_runs as l
                where
                    h.to_gate = 2147483647
                    and l.state in ('queued', 'retrying')
                    and l.gates is not null
                    and l.queue_id = :queue_id::integer
                    and (l.gates[1], l.priority)
                    < (:after_gate::integer, (:after_priority::smallint + 1)::smallint)
                order by l.gates[1] asc, l.priority asc, l.ready_at asc
                limit 1
            )
            limit 1
        ) as next
    where h.n < :most::integer
),

shut as materialized (
    select g.id
    from (
        select
            behind.id,
            count(*) as held
        from (
            select l.gates
            from rota.live_runs as l
            where l.state in ('running', 'cancelling')
            union all
            -- A graph run holds its gates while its steps run.
            select l.gates
            from rota.live_runs as l
            where
                l.state = 'blocked'
                and l.gates is not null
        ) as passed
        cross join lateral unnest(passed.gates) as behind (id)
        group by behind.id
    ) as busy
    inner join rota.gates as g on busy.id = g.id
    where
        g.in_order
        or busy.held >= g.most
)

select
    h.gate_id,
    h.priority,
    g.in_order,
    h.head_at <= rota.now()
    and h.gate_id not in (select shut.id from shut)
    and (
        g.paid_until is null
        or g.rate_per is null
        or g.paid_until <= rota.now() + g.rate_per / g.rate_count * (g.rate_burst - 1)
    )
    and g.tenant_id not in (
        select t.id from rota.tenants as t
        where t.paused_at is not null
    )
    and g.tenant_id not in (
        select tq.tenant_id from rota.tenant_queues as tq
        where
            tq.queue_id = :queue_id::integer
            and tq.paused_at is not null
    )
    and (:tenant_ids::integer[] is null or g.tenant_id = any(:tenant_ids::integer[])) as is_open
from hops as h
inner join rota.gates as g on h.gate_id = g.id
where h.head_at is not null
order by h.n;
