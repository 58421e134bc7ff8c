-- Replace the secret of an endpoint; the previous one signs as well for a while.
update rota.webhook_endpoints as e
set
    secret_version = e.secret_version + 1,
    key_id = :key_id::text,
    ciphertext = :ciphertext::bytea,
    former = case when e.key_id = :key_id::text then e.ciphertext end,
    former_until = rota.now() + :former_for::interval,
    version = e.version + 1,
    updated_at = rota.now()
where
    e.id = :id::uuid
    and e.tenant_id = :tenant_id::integer
    and e.secret_version = :secret_version::integer
returning e.id;
