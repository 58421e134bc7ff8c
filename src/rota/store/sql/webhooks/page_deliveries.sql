-- The deliveries of an endpoint, newest event first.
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
    d.error
from rota.webhook_deliveries as d
inner join rota.webhook_endpoints as e on d.endpoint_id = e.id
inner join rota.webhook_events as v on d.event_id = v.id
where
    d.endpoint_id = :endpoint_id::uuid
    and d.tenant_id = :tenant_id::integer
    and d.event_id < :before::uuid
    and (
        :state::text is null
        or d.state = case when :state::text = 'held' then 'pending' else :state::text end
        and (d.state <> 'pending' or (e.state = 'disabled') = (:state::text = 'held'))
    )
    and (:type::text is null or v.type = :type::text)
order by d.event_id desc
limit :most::integer;
