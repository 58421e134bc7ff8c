-- Put all runs of a queue behind a gate, or behind none.
update rota.queues
set gate_id = :gate_id::integer
where id = :queue_id::integer
returning id;
