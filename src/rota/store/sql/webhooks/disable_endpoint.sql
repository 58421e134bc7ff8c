-- Disable an endpoint for a user. No row: it is disabled already.
update rota.webhook_endpoints as e
set
    state = 'disabled',
    disabled_reason = 'manual',
    disabled_at = rota.now(),
    version = e.version + 1,
    updated_at = rota.now()
where
    e.id = :id::uuid
    and e.tenant_id = :tenant_id::integer
    and e.state = 'enabled'
returning e.id;
