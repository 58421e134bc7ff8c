-- One job of a tenant: whether it is held, its next tick, whether a scheduler can decide it, its
-- unfinished runs, at most five of each kind, and the pause of its queue if relevant.
select
    j.id,
    j.name,
    rota.shown_state(j) as state,
    j.held,
    coalesce(not j.schedule ? 'on_demand', false) as is_scheduled,
    j.schedule,
    j.schedule -> 'event' as event,
    coalesce(j.schedule ? 'fixed_delay', false) as counts_from_end,
    c.tick_at,
    c.fire_at,
    c.shard,
    o.name as scheduler,
    (
        select count(*) from rota.sessions as s
        where
            s.role = 'scheduler'
            and s.expires_at > rota.now()
    ) as schedulers,
    array(
        select l.id
        from rota.live_runs as l
        where
            l.job_id = j.id
            and l.state in ('blocked', 'queued', 'retrying')
            and l.trigger <> 'graph'
        limit 5
    ) as waiting_ids,
    array(
        select l.id
        from rota.live_runs as l
        where
            l.job_id = j.id
            and l.state in ('running', 'cancelling')
            and l.trigger <> 'graph'
        limit 5
    ) as running_ids,
    coalesce(q.paused_at, tq.paused_at) as queue_paused_at,
    case when q.paused_at is null then tq.paused_by else q.paused_by end as queue_paused_by,
    rota.now() as now
from rota.jobs as j
left join rota.cursors as c on j.id = c.job_id
left join rota.shards as h on c.shard = h.id and h.expires_at > rota.now()
left join rota.sessions as o on h.owner = o.id
left join rota.queues as q
    on
        j.queue_id = q.id
        and q.paused_at is not null
        and j.when_queue_paused = 'skip'
        and not j.schedule ? 'at'
left join rota.tenant_queues as tq
    on
        j.tenant_id = tq.tenant_id
        and j.queue_id = tq.queue_id
        and tq.paused_at is not null
        and j.when_queue_paused = 'skip'
        and not j.schedule ? 'at'
where
    j.id = :job_id::uuid
    and j.tenant_id = :tenant_id::integer
    and j.state <> 'deleted';
