-- Create the deliveries of events; known ones are left unchanged.
insert into rota.webhook_deliveries (id, tenant_id, endpoint_id, event_id)
select
    d.id,
    d.tenant_id,
    d.endpoint_id,
    d.event_id
from
    unnest(
        :ids::uuid[],
        :tenant_ids::integer[],
        :endpoint_ids::uuid[],
        :event_ids::uuid[]
    ) as d (id, tenant_id, endpoint_id, event_id)
on conflict (endpoint_id, event_id) do nothing
returning id;
