-- Enable an endpoint with a clean record. No row: it is enabled already.
update rota.webhook_endpoints as e
set
    state = 'enabled',
    disabled_reason = null,
    disabled_at = null,
    failures = 0,
    failing_since = null,
    probe_at = null,
    concurrency = 10,
    version = e.version + 1,
    updated_at = rota.now()
where
    e.id = :id::uuid
    and e.tenant_id = :tenant_id::integer
    and e.state = 'disabled'
returning e.id;
