-- Create no more members, for a reason. The first reason stays.
update rota.graph_maps as m
set
    stopped = :stopped::text,
    reason = :reason::jsonb
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
    and m.stopped is null
returning m.run_id;
