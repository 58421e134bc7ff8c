-- Decide one tick of each job in the batch: move its cursor and insert its run, or record why not.
-- For the overlap policies skip and allow, which nearly all jobs have; fire_overlapping.sql handles
-- the others.
-- Runs of a backfill are independent of the schedule and prevent no tick. A tick of a paused queue
-- is skipped unless its job lets ticks accumulate, or it is the last one.
-- A row whose shard, version or tick differs from what the scheduler read changes nothing and is
-- not returned. The shard rows are locked, so a new owner waits for this decision or precedes it.
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

-- fragment: due_ticks
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
-- end fragment

moved as (
    -- fragment: moved_cursors
    update rota.cursors as c
    set
        tick_at = t.next_tick_at,
        fire_at = t.next_fire_at,
        fired = c.fired + 1
    from ticks as t
    where
        t.next_tick_at is not null
        and c.job_id = t.job_id
        and c.version = t.version
        and c.tick_at = t.tick_at
        and c.fire_at <= (select rota.now() + :ahead::interval)
        and c.shard = any(array(select held.id from held))
    returning
        c.job_id, t.run_id, t.tick_at, t.due_at, c.tenant_id, c.queue_id, c.kind_id,
        c.policy_id, c.version, c.priority, c.overlap, c.guarantee, c.gates, c.deadline,
        -- end fragment
        c.when_queue_paused = 'skip' as may_pass
),

-- The last tick of a job ends its cursor; the job is listed here and marked as finished later.
ended as (
    -- fragment: ended_cursors
    delete from rota.cursors as c
    using ticks as t
    where
        t.next_tick_at is null
        and c.job_id = t.job_id
        and c.version = t.version
        and c.tick_at = t.tick_at
        and c.fire_at <= (select rota.now() + :ahead::interval)
        and c.shard = any(array(select held.id from held))
    returning
        c.job_id, t.run_id, t.tick_at, t.due_at, c.tenant_id, c.queue_id, c.kind_id,
        c.policy_id, c.version, c.priority, c.overlap, c.guarantee, c.gates, c.deadline,
        -- end fragment
        false as may_pass
),

noted as (
    insert into rota.ended_jobs (job_id)
    select e.job_id from ended as e
),

decided as (
    select
        d.*,
        case
            when
                d.may_pass
                and (
                    d.queue_id = any(array(select p.id from paused as p))
                    or (d.tenant_id, d.queue_id) in (
                        select
                            p.tenant_id,
                            p.queue_id
                        from paused_by_tenant as p
                    )
                )
                then 'queue_paused'
            when
                d.overlap = 'skip'
                and (
                    -- Not `exists`: the planner could answer it by reading all waiting runs.
                    coalesce((
                        select true from rota.live_runs as l
                        where
                            l.job_id = d.job_id
                            and l.state in ('blocked', 'queued', 'retrying')
                            and l.trigger <> 'graph'
                            and l.trigger <> 'backfill'
                        limit 1
                    ), false)
                    or d.job_id in (
                        select l.job_id
                        from rota.live_runs as l
                        where
                            l.state in ('running', 'cancelling')
                            and l.trigger <> 'graph'
                            and l.trigger <> 'backfill'
                    )
                )
                then 'overlap'
        end as refusal
    from (
        select * from moved
        union all
        select * from ended
    ) as d
),

-- fragment: fired_ticks
--   is_paused: d.refusal = 'queue_paused'
passed as (
    insert into rota.runs (
        id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, reason
    )
    select
        d.run_id, d.job_id, d.tick_at, d.due_at, rota.now(), rota.now(), d.tenant_id, d.queue_id,
        d.kind_id, d.policy_id, d.version, 'skipped', 'tick', d.priority,
        jsonb_strip_nulls(jsonb_build_object(
            'code', d.refusal,
            'by', case
                when d.refusal = 'queue_paused'
                    then coalesce(
                        (
                            select p.paused_by from paused as p
                            where p.id = d.queue_id
                        ),
                        (
                            select p.paused_by from paused_by_tenant as p
                            where
                                p.tenant_id = d.tenant_id
                                and p.queue_id = d.queue_id
                        )
                    )
            end
        ))
    from decided as d
    where d.refusal is not null
    on conflict do nothing
),

made as (
    insert into rota.live_runs (
        id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id,
        queue_id, kind_id, policy_id, job_version, state, trigger, priority, guarantee, gates
    )
    select
        d.run_id, d.job_id, d.tick_at, d.due_at, greatest(d.due_at, clock.now), clock.now,
        d.due_at + d.deadline, d.tenant_id, d.queue_id, d.kind_id, d.policy_id, d.version,
        'queued', 'tick', d.priority, d.guarantee, d.gates
    from decided as d
    cross join (select rota.now() as now) as clock
    where d.refusal is null
    on conflict (id) do nothing
)
-- end fragment

select
    d.run_id,
    d.refusal is not null as is_skipped
from decided as d;
