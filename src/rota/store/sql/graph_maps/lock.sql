-- The counters of a map, locked until the end of the transaction.
select
    m.run_id,
    m.step,
    m.base,
    m.tenant_id,
    m.round,
    m.total,
    m.handed,
    m.made,
    m.again,
    m.again_after,
    m.succeeded,
    m.failed,
    m.cancelled,
    m.is_counted,
    m.is_sourcing,
    m.stopped,
    m.reason,
    m.started_at,
    m.ended_at
from rota.graph_maps as m
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
for no key update;
