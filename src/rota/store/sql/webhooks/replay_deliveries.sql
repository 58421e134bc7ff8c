-- Send deliveries of an endpoint again, oldest event first, at the given pace.
with
chosen as (
    select
        d.id,
        d.event_id
    from rota.webhook_deliveries as d
    inner join rota.webhook_events as v on d.event_id = v.id
    where
        d.endpoint_id = :endpoint_id::uuid
        and d.tenant_id = :tenant_id::integer
        and d.state = any(:states::text[])
        and (d.leased_until is null or d.leased_until <= rota.now())
        and d.created_at <= :counted_at::timestamptz
        and (:since::timestamptz is null or v.at >= :since::timestamptz)
        and (:until::timestamptz is null or v.at < :until::timestamptz)
        and (:types::text[] is null or v.type = any(:types::text[]))
    order by d.event_id
    limit :most::integer
),

placed as (
    select
        c.id,
        row_number() over (order by c.event_id) - 1 as place
    from chosen as c
)

update rota.webhook_deliveries as d
set
    state = 'pending',
    retries = 0,
    next_attempt_at = rota.now() + p.place * :spacing::interval,
    leased_until = null,
    leased_by = null,
    finished_at = null
from placed as p
where d.id = p.id
returning d.id;
