-- Tenants by name. They are made by an administrator, never by using them.
select
    t.id,
    t.name,
    t.quotas
from rota.tenants as t
where t.name = any(:names::text[]);
