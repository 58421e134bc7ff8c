-- Which of these tenants may make only so many limit keys.
select
    t.id as tenant_id,
    ((t.default_quotas || t.quotas) ->> 'max_limit_keys')::integer as most
from rota.tenants as t
where
    t.id = any(:tenant_ids::integer[])
    and (t.default_quotas || t.quotas) ->> 'max_limit_keys' is not null
order by t.id;
