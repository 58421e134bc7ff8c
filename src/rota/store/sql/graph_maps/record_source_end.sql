-- Record that the source has ended. If it succeeded, the provided items are complete.
update rota.graph_maps as m
set
    is_sourcing = false,
    total = case when :is_complete::boolean then m.handed else m.total end
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
    and m.is_sourcing
returning m.run_id;
