-- How many rules a tenant has.
select count(*) as number
from rota.expectations as e
where e.tenant_id = :tenant_id::integer;
