-- Decide ticks of jobs whose overlap policy affects other runs: the tick waits behind the previous
-- run, replaces a waiting one, or ends the previous ones. Otherwise like fire.sql. The runs of a
-- job are locked first, so that a claim or an ending comes before this or finds it done.
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

-- A tick that is skipped because its queue is paused does not affect the previous runs.
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
        c.keep_first,
        c.when_queue_paused = 'skip'
        and (
            c.queue_id = any(array(select p.id from paused as p))
            or (c.tenant_id, c.queue_id) in (
                select
                    p.tenant_id,
                    p.queue_id
                from paused_by_tenant as p
            )
        ) as is_passed
),

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
        c.keep_first, false as is_passed
),

noted as (
    insert into rota.ended_jobs (job_id)
    select e.job_id from ended as e
),

fired as materialized (
    select * from moved
    union all
    select * from ended
),

-- A run that waits for a retry counts as running and is never replaced.
waiting as materialized (
    select
        l.id,
        l.job_id,
        l.attempt = 0 as is_new
    from rota.live_runs as l
    where
        l.job_id = any(array(select f.job_id from fired as f))
        and l.state in ('blocked', 'queued', 'retrying')
        and l.trigger <> 'graph'
        and l.trigger <> 'backfill'
    order by l.id
    for update
),

running as materialized (
    select
        l.id,
        l.job_id,
        l.state
    from rota.live_runs as l
    where
        l.state in ('running', 'cancelling')
        and l.trigger <> 'graph'
        and l.trigger <> 'backfill'
        and l.job_id = any(array(
            select f.job_id from fired as f
            where f.overlap in ('cancel_running', 'terminate_running')
        ))
    order by l.id
    for update
),

decided as (
    select
        f.*,
        case
            when f.is_passed then 'queue_paused'
            when
                f.overlap = 'skip'
                and (w.everyone > 0 or f.job_id in (
                    select l.job_id from rota.live_runs as l
                    where
                        l.state in ('running', 'cancelling')
                        and l.trigger <> 'graph'
                        and l.trigger <> 'backfill'
                ))
                then 'overlap'
            when f.overlap = 'queue_one' and f.keep_first and w.new > 0 then 'overlap'
            when
                f.overlap = 'queue_all' and w.everyone >= :most_waiting::integer
                then 'overlap_full'
        end as refusal
    from fired as f
    cross join
        lateral (
            select
                count(*) as everyone,
                count(*) filter (where waiting.is_new) as new
            from waiting
            where waiting.job_id = f.job_id
        ) as w
),

replaced as (
    delete from rota.live_runs as l
    using waiting as w, fired as f
    where
        l.id = w.id
        and f.job_id = w.job_id
        and not f.is_passed
        and (
            (f.overlap = 'queue_one' and not f.keep_first and w.is_new)
            or f.overlap in ('cancel_running', 'terminate_running')
        )
    returning
        l.*,
        case when f.overlap = 'queue_one' then 'skipped' else 'cancelled' end as final,
        f.run_id as into_id
),

asked as (
    update rota.live_runs as l
    set
        state = 'cancelling',
        changed_at = rota.now()
    from running as r, fired as f
    where
        l.id = r.id
        and f.job_id = r.job_id
        and not f.is_passed
        and f.overlap = 'cancel_running'
        and r.state = 'running'
),

terminated as (
    delete from rota.live_runs as l
    using running as r, fired as f
    where
        l.id = r.id
        and f.job_id = r.job_id
        and not f.is_passed
        and f.overlap = 'terminate_running'
    returning
        l.*,
        'cancelled' as final,
        f.run_id as into_id
),

told as (
    -- fragment: ended_run row=e
    --   without: result, graph_run_id, step, member, name, labels, user_id, submitter, address
    --   state: e.final::rota.run_state
    --   reason: jsonb_build_object('code', 'overlap', 'into', e.into_id)
    insert into rota.runs (
        id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at,
        tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
        attempt, failures, losses, payload, reason, gates
    )
    select
        e.id,
        e.job_id,
        e.session_id,
        e.scheduled_at,
        e.due_at,
        e.created_at,
        e.started_at,
        rota.now(),
        e.tenant_id,
        e.queue_id,
        e.kind_id,
        e.policy_id,
        e.job_version,
        e.final::rota.run_state,
        e.state,
        e.trigger,
        e.priority,
        e.attempt,
        e.failures,
        e.losses,
        e.payload,
        jsonb_build_object('code', 'overlap', 'into', e.into_id),
        e.gates
    -- end fragment
    from (
        select * from replaced
        union all
        select * from terminated
    ) as e
),

-- The steps of a graph run must be cancelled too (docs/adr/0018-step-completions.md).
marked as (
    insert into rota.step_marks (tenant_id, graph_run_id, step)
    select
        e.tenant_id,
        e.id,
        -1
    from replaced as e
    where e.state = 'blocked'
),

-- fragment: fired_ticks is_paused=d.is_passed
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
                when d.is_passed
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
