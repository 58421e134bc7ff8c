-- Insert a key, which is valid from now on.
insert into rota.api_keys (
    id, tenant_id, name, handle, digest, role, user_id, created_at, expires_at
)
values (
    :id::uuid,
    :tenant_id::integer,
    :name::text,
    :handle::text,
    :digest::bytea,
    :role::text,
    :user_id::text,
    rota.now(),
    rota.now() + :lifetime::interval
)
returning
    id,
    tenant_id,
    name,
    handle,
    role,
    user_id,
    created_at,
    expires_at,
    revoked_at,
    used_at;
