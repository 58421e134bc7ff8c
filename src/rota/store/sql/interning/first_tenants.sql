-- The names of a few tenants: enough to see whether there is more than one.
select
    t.id,
    t.name
from rota.tenants as t
order by t.id
limit 2;
