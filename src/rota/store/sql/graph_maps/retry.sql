-- Retry the members that did not succeed: they wait, and are counted again when they end. A source
-- that provided all its items is not retried. A second call in the same round changes nothing.
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
