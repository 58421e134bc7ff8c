-- One delivery with its event and attempts.
select
    d.id,
    d.endpoint_id,
    d.event_id,
    v.type,
    d.state,
    e.state as endpoint_state,
    d.attempts,
    d.next_attempt_at,
    d.leased_until > rota.now() as is_in_flight,
    d.created_at,
    d.finished_at,
    d.status,
    d.error,
    d.response,
    d.history,
    e.format,
    e.include,
    v.at,
    v.subject,
    v.data,
    v.extras
from rota.webhook_deliveries as d
inner join rota.webhook_endpoints as e on d.endpoint_id = e.id
inner join rota.webhook_events as v on d.event_id = v.id
where
    d.id = :id::uuid
    and d.endpoint_id = :endpoint_id::uuid
    and d.tenant_id = :tenant_id::integer;
