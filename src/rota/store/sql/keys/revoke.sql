-- Revoke a key. Revoking it again keeps the time of the first revocation.
update rota.api_keys
set revoked_at = coalesce(revoked_at, rota.now())
where
    tenant_id = :tenant_id::integer
    and id = :id::uuid
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
