-- The heads of ordered gates: the earliest tick of all waiting runs, regardless of queue, kind and
-- back-off.
select
    kept.gate_id,
    head.id as run_id
from unnest(:ids::integer[]) as kept (gate_id)
cross join
    lateral (
        select l.id
        from rota.live_runs as l
        where
            l.state in ('queued', 'retrying')
            and l.gates is not null
            and l.gates[1]::bigint = kept.gate_id
        order by l.scheduled_at asc, l.id asc
        limit 1
    ) as head;
