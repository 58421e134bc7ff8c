-- Revoke the valid keys of a user.
update rota.api_keys
set revoked_at = rota.now()
where
    tenant_id = :tenant_id::integer
    and user_id = :user_id::text
    and revoked_at is null
returning id;
