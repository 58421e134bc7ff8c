-- Create a ping, unless the tenant has another of this name. The first success is expected from now
-- on as if the work had just succeeded.
insert into rota.pings as p (
    id, tenant_id, name, digest, handle, schedule, grace, policy, overdue_at, check_at
)
values (
    :id::uuid,
    :tenant_id::integer,
    :name::text,
    :digest::bytea,
    :handle::text,
    :schedule::jsonb,
    :grace::interval,
    :policy::jsonb,
    :overdue_at::timestamptz,
    :overdue_at::timestamptz
)
on conflict (tenant_id, name) do nothing
returning
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
    p.is_down;
