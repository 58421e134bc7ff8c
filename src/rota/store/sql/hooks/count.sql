-- How many hooks a tenant has.
select count(*) as number
from rota.hooks as h
where h.tenant_id = :tenant_id::integer;
