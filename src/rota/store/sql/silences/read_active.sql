-- Silences that hold now, of some tenants or of all.
select
    s.id,
    s.tenant_id,
    s.match,
    s.starts_at,
    s.ends_at,
    s.calendar,
    s.reason,
    s.created_by,
    s.created_at,
    s.ended_by
from rota.silences as s
where
    s.starts_at <= :now::timestamptz
    and s.ends_at > :now::timestamptz
    and (:tenant_ids::integer[] is null or s.tenant_id = any(:tenant_ids::integer[]))
order by s.tenant_id asc, s.ends_at desc;
