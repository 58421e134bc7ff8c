-- Let the members that did not succeed go again: they wait for it, and are counted anew when they
-- end. A source that gave all its items does not. A second call in the same round changes nothing.
update rota.graph_maps as m
set
    round = :round::smallint,
    again = m.failed + m.cancelled,
    again_after = -1,
    failed = 0,
    cancelled = 0,
    is_sourcing = m.total is null,
    stopped = null,
    reason = null,
    ended_at = null
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
    and m.round < :round::smallint
returning m.run_id;
