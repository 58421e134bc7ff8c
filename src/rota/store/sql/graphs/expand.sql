-- Make graph runs that a session has claimed wait for their steps. The completion record that
-- starts the first step is inserted here, so a crash afterwards loses nothing. A missing row was
-- lost; a graph run that was asked to cancel meanwhile ends instead.
-- A run that is retried as a whole restarts in the next round; one that was reopened to continue
-- from its failed steps (reopen.sql) has not ended and keeps its step states.
with given as (
    select
        r.id,
        r.state as was
    from unnest(:ids::uuid[], :attempts::smallint[]) as u (id, attempt)
    inner join rota.live_runs as r on u.id = r.id and u.attempt = r.attempt
    where r.session_id = :session_id::uuid
    order by r.id
    for update of r
),

unfolded as (
    update rota.live_runs as r
    set
        state = 'blocked',
        session_id = null
    from given as g
    where
        r.id = g.id
        and g.was = 'running'
    returning r.id, r.state, r.tenant_id, r.job_id, r.job_version, r.started_at
),

opened as (
    insert into rota.graph_runs as o (run_id, tenant_id, job_id, graph_id, started_at)
    select
        u.id,
        u.tenant_id,
        u.job_id,
        -- That of the definition it was created from, if known.
        coalesce(d.graph_id, j.graph_id),
        u.started_at
    from unfolded as u
    left join rota.jobs as j on u.job_id = j.id
    left join lateral rota.definition_used(u.job_id, u.job_version) as d on true
    on conflict (run_id) do update
        set
            board = case when o.ended_at is null then o.board else '' end,
            round = case when o.ended_at is null then o.round else o.round + 1 end,
            rounds = case when o.ended_at is null then o.rounds else '{}' end,
            told = case when o.ended_at is null then o.told else '{}' end,
            paused_at = null,
            ended_at = null
),

marked as (
    insert into rota.step_marks (tenant_id, graph_run_id, step)
    select
        u.tenant_id,
        u.id,
        -2
    from unfolded as u
),

cancelled as (
    delete from rota.live_runs as r
    using given as g
    where
        r.id = g.id
        and g.was = 'cancelling'
    returning r.*
),

told as (
    -- fragment: ended_run row=c
    --   without: result, graph_run_id, step, member, name, labels, user_id, submitter, address
    --   state: 'cancelled'
    --   reason: '{"code": "cancelled"}'
    insert into rota.runs (
        id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at,
        tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
        attempt, failures, losses, payload, reason, gates
    )
    select
        c.id,
        c.job_id,
        c.session_id,
        c.scheduled_at,
        c.due_at,
        c.created_at,
        c.started_at,
        rota.now(),
        c.tenant_id,
        c.queue_id,
        c.kind_id,
        c.policy_id,
        c.job_version,
        'cancelled',
        c.state,
        c.trigger,
        c.priority,
        c.attempt,
        c.failures,
        c.losses,
        c.payload,
        '{"code": "cancelled"}',
        c.gates
    -- end fragment
    from cancelled as c
    returning id, state
)

select
    u.id,
    u.state
from unfolded as u
union all
select
    t.id,
    t.state
from told as t;
