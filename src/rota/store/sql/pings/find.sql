-- A ping by the digest of its token, of any tenant: its caller has no API key. Locked, so that the
-- signals of one ping are recorded one after the other.
select
    p.id,
    p.tenant_id,
    p.name,
    p.handle,
    p.schedule::text as schedule,
    p.grace,
    p.policy::text as policy,
    p.version,
    p.created_at,
    p.pinged_at,
    p.succeeded_at,
    p.failed_at,
    p.began_at,
    p.overdue_at,
    p.is_down
from rota.pings as p
where p.digest = :digest::bytea
for update;
