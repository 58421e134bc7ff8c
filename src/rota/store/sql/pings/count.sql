-- How many pings a tenant has.
select count(*) as number
from rota.pings as p
where p.tenant_id = :tenant_id::integer;
