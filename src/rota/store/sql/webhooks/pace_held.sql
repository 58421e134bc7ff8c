-- Spread the pending deliveries of a disabled endpoint over time, oldest event first.
with
placed as (
    select
        d.id,
        row_number() over (order by d.event_id) - 1 as place
    from rota.webhook_deliveries as d
    where
        d.endpoint_id = :endpoint_id::uuid
        and d.tenant_id = :tenant_id::integer
        and d.state = 'pending'
        and (d.leased_until is null or d.leased_until <= rota.now())
)

update rota.webhook_deliveries as d
set
    retries = 0,
    next_attempt_at = rota.now() + p.place * :spacing::interval,
    leased_until = null,
    leased_by = null
from placed as p
where
    d.id = p.id
    and d.state = 'pending'
returning d.id;
