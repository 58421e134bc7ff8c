-- The tenants among these that have a limit on their number of limit keys, and the limit.
select
    t.id as tenant_id,
    ((t.default_quotas || t.quotas) ->> 'max_limit_keys')::integer as most
from rota.tenants as t
where
    t.id = any(:tenant_ids::integer[])
    and (t.default_quotas || t.quotas) ->> 'max_limit_keys' is not null
order by t.id;
