-- Pause or resume a queue. Pausing it again keeps who paused it first, and when.
update rota.queues
set
    paused_at = case when :paused::boolean then coalesce(paused_at, rota.now()) end,
    paused_by = case
        when :paused::boolean and paused_at is not null then paused_by
        when :paused::boolean then :by::text
    end
where id = :queue_id::integer
returning id;
