-- Pause or resume a queue for one tenant. Pausing it again keeps who paused it first, and when.
insert into rota.tenant_queues as tq (tenant_id, queue_id, paused_at, paused_by)
values (
    :tenant_id::integer,
    :queue_id::integer,
    case when :paused::boolean then rota.now() end,
    case when :paused::boolean then :by::text end
)
on conflict (tenant_id, queue_id) do update
    set
        paused_at = case
            when :paused::boolean then coalesce(tq.paused_at, excluded.paused_at)
        end,
        paused_by = case
            when :paused::boolean and tq.paused_at is not null then tq.paused_by
            when :paused::boolean then excluded.paused_by
        end
returning tq.queue_id as id;
