-- How many secrets a tenant has.
select count(*) as number
from rota.secrets as s
where s.tenant_id = :tenant_id::integer;
