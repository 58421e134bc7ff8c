-- How many calendars a tenant has.
select count(*) as number
from rota.calendars as c
where c.tenant_id = :tenant_id::integer;
