-- Tenants by id, after `after`.
select
    t.id,
    t.name,
    t.weight,
    t.quotas,
    t.paused_at,
    t.gate_id,
    t.created_at
from rota.tenants as t
where t.id > :after::integer
order by t.id
limit :most::integer;
