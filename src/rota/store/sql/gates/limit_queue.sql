-- Set or remove the gate of all runs of a queue.
update rota.queues
set gate_id = :gate_id::integer
where id = :queue_id::integer
returning id;
