-- Send a delivery again, from the start of the schedule. No row: an attempt is in flight.
update rota.webhook_deliveries as d
set
    state = 'pending',
    retries = 0,
    next_attempt_at = rota.now(),
    leased_until = null,
    leased_by = null,
    finished_at = null
where
    d.id = :id::uuid
    and d.tenant_id = :tenant_id::integer
    and (d.leased_until is null or d.leased_until <= rota.now())
returning d.id;
