-- Store the health of a locked endpoint. A reason to disable it disables it.
update rota.webhook_endpoints as e
set
    failures = :failures::integer,
    failing_since = :failing_since::timestamptz,
    probe_at = :probe_at::timestamptz,
    concurrency = :concurrency::smallint,
    last_success_at = :last_success_at::timestamptz,
    last_failure_at = case
        when :error::text is null then e.last_failure_at else rota.now()
    end,
    last_error = coalesce(:error::text, e.last_error),
    state = case when :disabled_reason::text is null then e.state else 'disabled' end,
    disabled_reason = coalesce(:disabled_reason::text, e.disabled_reason),
    disabled_at = case
        when :disabled_reason::text is null then e.disabled_at
        else coalesce(e.disabled_at, rota.now())
    end
where e.id = :id::uuid
returning e.id;
