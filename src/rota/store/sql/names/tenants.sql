-- Tenants by name. They are made by an administrator, never by using them.
select
    t.id,
    t.name,
    t.default_quotas || t.quotas as quotas
from rota.tenants as t
where t.name = any(:names::text[]);
