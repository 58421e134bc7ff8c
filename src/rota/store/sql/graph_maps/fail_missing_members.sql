-- Count members that should be retried and cannot be found as failed.
update rota.graph_maps as m
set
    again = 0,
    failed = m.failed + m.again
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
    and m.again > 0
returning m.run_id;
