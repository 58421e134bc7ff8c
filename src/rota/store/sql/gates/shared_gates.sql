-- The gates of these queues, of all tenants, and of tenants in these queues, and the tenants whose
-- weight is not 1. A claimer reads them about once a second.
select
    q.id as queue_id,
    null::integer as tenant_id,
    q.gate_id,
    1::smallint as weight
from rota.queues as q
where
    q.id = any(:queue_ids::integer[])
    and q.gate_id is not null
union all
select
    null::integer as queue_id,
    t.id as tenant_id,
    t.gate_id,
    t.weight
from rota.tenants as t
where
    t.gate_id is not null
    or t.weight <> 1
union all
select
    tq.queue_id,
    tq.tenant_id,
    tq.gate_id,
    1::smallint as weight
from rota.tenant_queues as tq
where
    tq.queue_id = any(:queue_ids::integer[])
    and tq.gate_id is not null;
