-- One calendar.
select
    c.name,
    c.body,
    c.version,
    c.updated_at
from rota.calendars as c
where
    c.tenant_id = :tenant_id::integer
    and c.name = :name::text;
