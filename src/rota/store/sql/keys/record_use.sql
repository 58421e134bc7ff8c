-- Record that a key is in use, at most once a minute: a busy key must not become a busy row.
update rota.api_keys
set used_at = rota.now()
where
    tenant_id = :tenant_id::integer
    and id = :id::uuid
    and (used_at is null or used_at <= rota.now() - interval '1 minute')
returning id;
