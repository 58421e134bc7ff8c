-- Move cursors without creating runs, and record the ticks that were passed over. With the same
-- comparisons as fire.sql: a cursor that is no longer where it was read is not returned, and
-- nothing is recorded for it.
-- fragment: held_shards
with held as materialized (
    select s.id
    from unnest(:shards::smallint[], :epochs::bigint[]) as mine (id, epoch)
    inner join rota.shards as s on mine.id = s.id and mine.epoch = s.epoch
    where s.owner = :owner::uuid
    order by s.id
    for share of s
),
-- end fragment

steps as (
    select
        step.job_id,
        step.version,
        step.tick_at,
        step.next_tick_at,
        step.next_fire_at
    from
        unnest(
            :job_ids::uuid[],
            :versions::integer[],
            :tick_ats::timestamptz[],
            :next_tick_ats::timestamptz[],
            :next_fire_ats::timestamptz[]
        ) as step (job_id, version, tick_at, next_tick_at, next_fire_at)
),

moved as (
    update rota.cursors as c
    set
        tick_at = t.next_tick_at,
        fire_at = t.next_fire_at
    from steps as t
    where
        t.next_tick_at is not null
        and c.job_id = t.job_id
        and c.version = t.version
        and c.tick_at = t.tick_at
        and c.fire_at is not null
        and c.shard = any(array(select held.id from held))
    returning
        c.job_id, c.tenant_id, c.queue_id, c.kind_id, c.policy_id, c.version, c.priority
),

-- No further tick: the cursor ends, and the job is listed as in fire.sql.
ended as (
    delete from rota.cursors as c
    using steps as t
    where
        t.next_tick_at is null
        and c.job_id = t.job_id
        and c.version = t.version
        and c.tick_at = t.tick_at
        and c.fire_at is not null
        and c.shard = any(array(select held.id from held))
    returning
        c.job_id, c.tenant_id, c.queue_id, c.kind_id, c.policy_id, c.version, c.priority
),

noted as (
    insert into rota.ended_jobs (job_id)
    select e.job_id from ended as e
),

decided as (
    select * from moved
    union all
    select * from ended
),

told as (
    insert into rota.runs (
        id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, reason
    )
    select
        n.id, d.job_id, n.tick_at, n.due_at, rota.now(), rota.now(), d.tenant_id, d.queue_id,
        d.kind_id, d.policy_id, d.version, n.state, 'tick', d.priority, n.reason
    from
        unnest(
            :record_jobs::uuid[],
            :record_ids::uuid[],
            :record_ticks::timestamptz[],
            :record_ticks::timestamptz[],
            :record_states::rota.run_state[],
            :record_reasons::jsonb[]
        ) as n (job_id, id, tick_at, due_at, state, reason)
    inner join decided as d on n.job_id = d.job_id
    on conflict do nothing
)

select d.job_id from decided as d;
