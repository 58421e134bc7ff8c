-- What is paused: queues for all tenants, queues of tenants, and tenants as a whole. Null stands
-- for all.
select
    null::integer as tenant_id,
    q.name as queue
from rota.queues as q
where q.paused_at is not null
union all
select
    tq.tenant_id,
    q.name as queue
from rota.tenant_queues as tq
inner join rota.queues as q on tq.queue_id = q.id
where tq.paused_at is not null
union all
select
    t.id as tenant_id,
    null::text as queue
from rota.tenants as t
where t.paused_at is not null;
