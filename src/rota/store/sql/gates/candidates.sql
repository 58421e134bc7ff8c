-- Runs that are ready to pass, with all their gates: those of each given lane, and the heads of
-- ordered gates. A head that is not ready blocks the runs behind it. Limited to these tenants; null
-- means all.
select
    c.id,
    c.tenant_id,
    c.priority,
    c.ready_at,
    c.gates,
    t.gate_id as tenant_gate,
    q.gate_id as queue_gate,
    tq.gate_id as tenant_queue_gate
from (
    select walked.*
    from unnest(:gate_ids::integer[], :priorities::smallint[]) as lane (gate_id, priority)
    cross join
        lateral (
            select
                l.id,
                l.tenant_id,
                l.priority,
                l.ready_at,
                l.gates
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is not null
                and l.queue_id = :queue_id::integer
                and l.gates[1] = lane.gate_id
                and l.priority = lane.priority
                and l.ready_at <= (select rota.now())
                and l.kind_id = any(:kind_ids::integer[])
            order by l.ready_at asc, l.id asc
            limit :share::integer
        ) as walked
    union all
    select
        head.id,
        head.tenant_id,
        head.priority,
        head.ready_at,
        head.gates
    from unnest(:ordered_ids::integer[]) as kept (gate_id)
    cross join
        lateral (
            select l.*
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is not null
                and l.gates[1]::bigint = kept.gate_id
            order by l.scheduled_at asc, l.id asc
            limit 1
        ) as head
    where
        head.queue_id = :queue_id::integer
        and head.ready_at <= rota.now()
        and head.kind_id = any(:kind_ids::integer[])
) as c
left join rota.tenants as t on c.tenant_id = t.id
left join rota.queues as q on q.id = :queue_id::integer
left join rota.tenant_queues as tq
    on
        c.tenant_id = tq.tenant_id
        and tq.queue_id = :queue_id::integer
where :tenant_ids::integer[] is null or c.tenant_id = any(:tenant_ids::integer[]);
