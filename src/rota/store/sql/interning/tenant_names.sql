-- The names of tenants, by their ids.
select
    t.id,
    t.name
from rota.tenants as t
where t.id = any(:ids::integer[]);
