-- Tenants with a silence that began recently or follows a calendar, and open incidents.
select distinct s.tenant_id as id
from rota.silences as s
where
    s.ends_at > :now::timestamptz
    and s.starts_at <= :now::timestamptz
    and (s.calendar is not null or s.starts_at > :since::timestamptz)
    and exists (
        select 1 from rota.incidents as i
        where
            i.tenant_id = s.tenant_id
            and i.state <> 'resolved'
    );
