-- One ping of a tenant.
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
where
    p.tenant_id = :tenant_id::integer
    and p.id = :id::uuid;
