-- Calendars that ticks are computed by, kept as they are until the end of the transaction. One that
-- somebody is changing is left out: they wait for jobs that the caller may have locked.
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
