-- Record a failed attempt. Without a wait the schedule is over, and the delivery has failed. No
-- row: another attempt has followed.
update rota.webhook_deliveries as d
set
    state = case when :wait::interval is null then 'failed' else 'pending' end,
    retries = d.retries + 1,
    next_attempt_at = rota.now() + coalesce(:wait::interval, interval '0'),
    leased_until = null,
    leased_by = null,
    finished_at = case when :wait::interval is null then rota.now() end,
    status = :status::smallint,
    error = :error::text,
    response = :response::text,
    history = case when jsonb_array_length(d.history) >= 20 then d.history - 0 else d.history end
    || jsonb_build_object(
        'at', rota.now(),
        'status', :status::smallint,
        'error', :error::text,
        'duration_ms', :duration_ms::integer
    )
where
    d.id = :id::uuid
    and d.attempts = :attempt::integer
    and d.leased_by = :sender::uuid
    and d.state = 'pending'
returning d.id;
