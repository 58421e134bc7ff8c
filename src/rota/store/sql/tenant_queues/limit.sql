-- Set or remove the gate of a tenant's runs in a queue.
insert into rota.tenant_queues as tq (tenant_id, queue_id, gate_id)
values (:tenant_id::integer, :queue_id::integer, :gate_id::integer)
on conflict (tenant_id, queue_id) do update
    set gate_id = excluded.gate_id
returning tq.queue_id as id;
