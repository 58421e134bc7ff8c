-- Add a queue to a tenant's own. No row: it already is.
insert into rota.tenant_queues (tenant_id, queue_id)
values (:tenant_id::integer, :queue_id::integer)
on conflict (tenant_id, queue_id) do nothing
returning queue_id as id;
