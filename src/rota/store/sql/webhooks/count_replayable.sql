-- How many deliveries of an endpoint a replay would send again, at most :most.
select count(*) as number
from (
    select 1 as one
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
    limit :most::integer
) as found;
