-- Tenants by name. Only an administrator creates them; using a name does not.
select
    t.id,
    t.name,
    t.default_quotas || t.quotas as quotas
from rota.tenants as t
where t.name = any(:names::text[]);
