-- The source has ended. If it ended well, what it handed out is all there is.
update rota.graph_maps as m
set
    is_sourcing = false,
    total = case when :is_complete::boolean then m.handed else m.total end
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
    and m.is_sourcing
returning m.run_id;
