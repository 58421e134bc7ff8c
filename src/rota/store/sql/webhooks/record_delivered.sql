-- Record that an attempt delivered its event. No row: another attempt has followed.
update rota.webhook_deliveries as d
set
    state = 'delivered',
    leased_until = null,
    leased_by = null,
    finished_at = rota.now(),
    status = :status::smallint,
    error = null,
    response = :response::text,
    history = case when jsonb_array_length(d.history) >= 20 then d.history - 0 else d.history end
    || jsonb_build_object(
        'at', rota.now(), 'status', :status::smallint, 'duration_ms', :duration_ms::integer
    )
from rota.webhook_endpoints as e
where
    d.id = :id::uuid
    and d.attempts = :attempt::integer
    and d.leased_by = :sender::uuid
    and d.state = 'pending'
    and e.id = d.endpoint_id
returning
    e.failures,
    e.failing_since,
    e.probe_at,
    e.concurrency,
    e.last_success_at,
    e.disabled_reason,
    rota.now() as now;
