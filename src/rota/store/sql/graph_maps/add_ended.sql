-- Add ended members to the counters.
update rota.graph_maps as m
set
    succeeded = m.succeeded + :succeeded::integer,
    failed = m.failed + :failed::integer,
    cancelled = m.cancelled + :cancelled::integer
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
returning m.run_id;
