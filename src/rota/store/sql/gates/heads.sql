-- Whose turn it is at gates that keep an order: the earliest tick of all that wait, whatever its
-- queue, its kind, or the end of its back-off.
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
