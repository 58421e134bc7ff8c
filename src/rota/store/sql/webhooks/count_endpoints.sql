-- How many endpoints a tenant has.
select count(*) as number
from rota.webhook_endpoints as e
where e.tenant_id = :tenant_id::integer;
