-- Keep a new key, unless the tenant has as many as it may. Callers take turns, so that the count is
-- right.
insert into rota.api_keys (
    id, tenant_id, name, handle, digest, role, user_id, created_at, expires_at
)
select
    :id::uuid,
    :tenant_id::integer,
    :name::text,
    :handle::text,
    :digest::bytea,
    :role::text,
    :user_id::text,
    rota.now(),
    rota.now() + :lifetime::interval
where (
    select count(*) from rota.api_keys as k
    where
        k.tenant_id = :tenant_id::integer
        and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > rota.now())
) < :most::bigint
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
