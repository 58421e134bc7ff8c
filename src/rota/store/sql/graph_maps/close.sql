-- Record that a map is decided.
update rota.graph_maps as m
set ended_at = rota.now()
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
    and m.ended_at is null
returning m.run_id;
