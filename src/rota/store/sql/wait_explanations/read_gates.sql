-- The state of one run's gates, without a lock: the holders of each, and the head of an ordered
-- one. Counted as in gates/count_held. Other tenants' runs may hold a queue's gate: they are
-- counted, but only the tenant's own are named, at most five.
with held as materialized (
    select
        l.id,
        l.gates,
        l.queue_id,
        l.tenant_id,
        l.started_at,
        false as is_unfolded
    from rota.live_runs as l
    where l.state in ('running', 'cancelling')
    union all
    -- A graph run holds its own gates while its steps run.
    select
        l.id,
        l.gates,
        l.queue_id,
        l.tenant_id,
        l.started_at,
        true as is_unfolded
    from rota.live_runs as l
    where
        l.state = 'blocked'
        and l.gates is not null
),

behind as (
    select
        g.id as gate_id,
        h.id,
        h.tenant_id,
        h.started_at
    from rota.gates as g
    inner join held as h
        on
            g.id = any(h.gates)
            or (
                g.id = :queue_gate::integer
                and h.queue_id = :queue_id::integer
                and not h.is_unfolded
            )
            or (
                g.id = :tenant_gate::integer
                and h.tenant_id = :tenant_id::integer
                and not h.is_unfolded
            )
            or (
                g.id = :tenant_queue_gate::integer
                and h.tenant_id = :tenant_id::integer
                and h.queue_id = :queue_id::integer
                and not h.is_unfolded
            )
    where g.id = any(:ids::integer[])
)

select
    g.id,
    g.key,
    g.most,
    g.rate_count,
    g.rate_per,
    g.rate_burst,
    g.paid_until,
    g.in_order,
    (
        select count(*) from behind as b
        where b.gate_id = g.id
    ) as held,
    array(
        select b.id
        from behind as b
        where
            b.gate_id = g.id
            and b.tenant_id = :tenant_id::integer
        order by b.started_at, b.id
        limit 5
    ) as held_ids,
    head.id as head_id,
    head.state as head_state,
    head.ready_at as head_ready_at
from rota.gates as g
left join
    lateral (
        select
            l.id,
            l.state,
            l.ready_at
        from rota.live_runs as l
        where
            g.in_order
            and l.state in ('queued', 'retrying')
            and l.gates is not null
            and l.gates[1]::bigint = g.id
        order by l.scheduled_at asc, l.id asc
        limit 1
    ) as head
    on true
where g.id = any(:ids::integer[])
order by g.id;
