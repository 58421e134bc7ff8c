-- Lease due deliveries of locked endpoints, at most :room, the oldest of each endpoint first.
with
endpoints as (
    select
        e.id,
        case when e.failures >= :failing_after::integer then 1 else e.concurrency end
        - (
            select count(*)
            from rota.webhook_deliveries as b
            where
                b.endpoint_id = e.id
                and b.leased_until > rota.now()
        ) as free
    from rota.webhook_endpoints as e
    where
        e.id = any(:endpoint_ids::uuid[])
        and e.state = 'enabled'
),

due as (
    select picked.id
    from endpoints as e
    cross join
        lateral (
            select
                oldest.id,
                oldest.next_attempt_at,
                row_number() over (order by oldest.next_attempt_at) as place
            from (
                select
                    d.id,
                    d.next_attempt_at
                from rota.webhook_deliveries as d
                where
                    d.endpoint_id = e.id
                    and d.state = 'pending'
                    and d.next_attempt_at <= rota.now()
                order by d.next_attempt_at
                limit greatest(e.free, 0)
            ) as oldest
        ) as picked
    order by picked.place, picked.next_attempt_at
    limit :room::integer
)

update rota.webhook_deliveries as d
set
    attempts = d.attempts + 1,
    leased_until = rota.now() + :lease::interval,
    leased_by = :sender::uuid,
    next_attempt_at = rota.now() + :lease::interval
from due
inner join rota.webhook_deliveries as held on due.id = held.id
inner join rota.webhook_endpoints as e on held.endpoint_id = e.id
inner join rota.webhook_events as v on held.event_id = v.id
inner join rota.tenants as t on held.tenant_id = t.id
where
    d.id = due.id
    and d.state = 'pending'
    and d.next_attempt_at <= rota.now()
returning
    d.id,
    d.tenant_id,
    t.name as tenant,
    d.endpoint_id,
    d.event_id,
    d.attempts,
    d.retries,
    e.name as endpoint,
    e.url,
    e.include,
    e.format,
    e.allow_http,
    e.secret_version,
    e.key_id,
    e.ciphertext,
    case when e.former_until > rota.now() then e.former end as former,
    v.type,
    v.at,
    v.subject,
    v.data,
    v.extras;
