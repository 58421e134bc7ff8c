-- The paused queues: with a tenant, those that it uses, paused by itself or for all tenants;
-- without, those paused for all tenants.
select
    q.name as queue,
    coalesce(q.paused_at, tq.paused_at) as paused_at,
    case when q.paused_at is null then tq.paused_by else q.paused_by end as paused_by,
    q.paused_at is not null as is_for_all
from rota.queues as q
left join rota.tenant_queues as tq
    on
        q.id = tq.queue_id
        and tq.tenant_id = :tenant_id::integer
where
    (q.paused_at is not null and (:tenant_id::integer is null or tq.queue_id is not null))
    or tq.paused_at is not null
order by q.name
limit :most::integer;
