-- The map of which a run is the source, while this attempt holds it.
select
    m.run_id,
    m.step,
    m.handed
from rota.live_runs as r
inner join rota.graph_maps as m on r.graph_run_id = m.run_id and r.step = m.step
where
    r.id = :id::uuid
    and r.attempt = :attempt::smallint
    and r.session_id = :session_id::uuid
    and r.member is null
    and m.is_sourcing;
