-- Lock a tenant against new keys, secrets, calendars and graphs.
select t.id
from rota.tenants as t
where t.id = :tenant_id::integer
for update;
