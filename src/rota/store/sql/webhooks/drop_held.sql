-- Drop pending deliveries of a disabled endpoint, except the newest :keep.
with
newest as (
    select d.id
    from rota.webhook_deliveries as d
    where
        d.endpoint_id = :endpoint_id::uuid
        and d.state = 'pending'
    order by d.event_id desc
    limit :keep::integer
)

update rota.webhook_deliveries as d
set
    state = 'dropped',
    leased_until = null,
    leased_by = null,
    finished_at = rota.now()
where
    d.endpoint_id = :endpoint_id::uuid
    and d.tenant_id = :tenant_id::integer
    and d.state = 'pending'
    and d.created_at <= :counted_at::timestamptz
    and d.id not in (select n.id from newest as n)
returning d.id;
