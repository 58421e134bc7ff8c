-- The ticks of a batch, and the queues whose ticks may be skipped.
ticks as (
    select
        tick.job_id,
        tick.version,
        tick.tick_at,
        tick.run_id,
        tick.next_tick_at,
        -- Omitted if equal to the tick, as it is without jitter.
        coalesce(tick.due_at, tick.tick_at) as due_at,
        coalesce(tick.next_fire_at, tick.next_tick_at) as next_fire_at
    from
        unnest(
            :job_ids::uuid[],
            :versions::integer[],
            :tick_ats::timestamptz[],
            :due_ats::timestamptz[],
            :run_ids::uuid[],
            :next_tick_ats::timestamptz[],
            :next_fire_ats::timestamptz[]
        ) as tick (job_id, version, tick_at, due_at, run_id, next_tick_at, next_fire_at)
),

-- Usually an index without entries.
paused as materialized (
    select
        q.id,
        q.paused_by
    from rota.queues as q
    where q.paused_at is not null
),

-- The same for queues that tenants have paused for themselves.
paused_by_tenant as materialized (
    select
        tq.tenant_id,
        tq.queue_id,
        tq.paused_by
    from rota.tenant_queues as tq
    where tq.paused_at is not null
),
