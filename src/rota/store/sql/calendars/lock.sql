-- Lock calendars that ticks are computed with until the end of the transaction. One that another
-- transaction is changing is left out: it waits for jobs that the caller may have locked.
select
    c.name,
    c.body,
    c.version,
    c.updated_at
from rota.calendars as c
where
    c.tenant_id = :tenant_id::integer
    and c.name = any(:names::text[])
order by c.name
for share skip locked;
