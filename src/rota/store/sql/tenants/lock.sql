-- Lock a tenant against new keys, secrets and calendars.
select t.id
from rota.tenants as t
where t.id = :tenant_id::integer
for update;
