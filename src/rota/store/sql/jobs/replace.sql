-- Write a changed job and its new cursor in one statement, so that no tick is decided between them
-- (F13). Without a next tick the cursor is deleted. The caller has locked both.
with changed as (
    update rota.jobs as j
    set
        state = :state::rota.job_state,
        version = j.version + 1,
        version_skips = j.version_skips + (not :is_edit::boolean)::integer,
        kind_id = :kind_id::integer,
        graph_id = :graph_id::integer,
        queue_id = :queue_id::integer,
        policy_id = :policy_id::integer,
        priority = :priority::smallint,
        overlap = :overlap::rota.overlap,
        keep_first = :keep_first::boolean,
        when_queue_paused = :when_queue_paused::rota.when_queue_paused,
        limits = :limits::jsonb,
        guarantee = :guarantee::rota.guarantee,
        schedule = :schedule::jsonb,
        payload = :payload::jsonb,
        held = case when :state::rota.job_state in ('paused', 'quarantined') then j.held end,
        updated_at = rota.now()
    where
        j.id = :id::uuid
        and j.version = :version::integer
    returning j.*
),

gone as (
    delete from rota.cursors as c
    using changed as j
    where
        c.job_id = j.id
        and :tick_at::timestamptz is null
),

placed as (
    insert into rota.cursors as c (
        job_id, tick_at, fire_at, fired, version, tenant_id, queue_id, kind_id, policy_id,
        schedule_id, overlap, shard, priority, guarantee, gates, deadline, keep_first,
        when_queue_paused
    )
    select
        j.id, :tick_at::timestamptz, :fire_at::timestamptz, :fired::integer, j.version,
        j.tenant_id, j.queue_id, j.kind_id, j.policy_id, :schedule_id::integer, j.overlap,
        :shard::smallint, j.priority, j.guarantee, :gates::integer[], :deadline::interval,
        j.keep_first, j.when_queue_paused
    from changed as j
    where :tick_at::timestamptz is not null
    on conflict (job_id) do update
        set
            tick_at = excluded.tick_at,
            fire_at = excluded.fire_at,
            fired = excluded.fired,
            version = excluded.version,
            queue_id = excluded.queue_id,
            kind_id = excluded.kind_id,
            policy_id = excluded.policy_id,
            schedule_id = excluded.schedule_id,
            overlap = excluded.overlap,
            keep_first = excluded.keep_first,
            when_queue_paused = excluded.when_queue_paused,
            priority = excluded.priority,
            guarantee = excluded.guarantee,
            gates = excluded.gates,
            deadline = excluded.deadline
)

select j.version from changed as j;
