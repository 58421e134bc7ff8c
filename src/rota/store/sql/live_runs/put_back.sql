-- Make attempts of one session wait again: a retry after its back-off, a snooze, a hand-back. Each
-- adds a row to attempts. A run that was asked to cancel meanwhile ends instead.
-- A session is set exactly while a run is held (a check constraint), so the state need not be
-- compared again; comparing would let the planner join through the index of held runs.
with given as (
    select
        r.id,
        r.state as was,
        b.state,
        b.outcome,
        b.failures,
        b.delay,
        b.reason
    from
        unnest(
            :ids::uuid[],
            :attempts::smallint[],
            :states::rota.run_state[],
            :outcomes::text[],
            :failures::smallint[],
            :delays::interval[],
            :reasons::jsonb[]
        ) as b (id, attempt, state, outcome, failures, delay, reason)
    inner join rota.live_runs as r on b.id = r.id and b.attempt = r.attempt
    where
        r.session_id = :session_id::uuid
    order by r.id
    for update of r
),

waiting as (
    update rota.live_runs as r
    set
        state = g.state,
        session_id = null,
        failures = g.failures,
        ready_at = rota.now() + g.delay,
        changed_at = rota.now()
    from given as g
    where
        r.id = g.id
        and g.was = 'running'
    returning r.id, r.state, r.attempt, r.started_at
),

cancelled as (
    delete from rota.live_runs as r
    using given as g
    where
        r.id = g.id
        and g.was = 'cancelling'
    returning r.*, g.reason
),

kept as (
    insert into rota.attempts (
        run_id, attempt, session_id, outcome, started_at, finished_at, reason
    )
    select
        w.id,
        w.attempt,
        :session_id::uuid,
        g.outcome,
        w.started_at,
        rota.now(),
        g.reason
    from waiting as w
    inner join given as g on w.id = g.id
),

told as (
    -- fragment: ended_run row=c without=result
    --   state: 'cancelled'
    insert into rota.runs (
        id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at,
        tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
        attempt, failures, losses, payload, reason, gates, graph_run_id, step, member, name, labels,
        user_id, submitter, address
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
        c.reason,
        c.gates,
        c.graph_run_id,
        c.step,
        c.member,
        c.name,
        c.labels,
        c.user_id,
        c.submitter,
        c.address
    -- end fragment
    from cancelled as c
    returning id, state, tenant_id, graph_run_id, step, member
),

marked as (
    -- fragment: step_completions
    insert into rota.step_marks (tenant_id, graph_run_id, step, state, ended, members, run_id)
    select
        t.tenant_id,
        t.graph_run_id,
        t.step,
        t.state,
        count(*),
        count(t.member),
        (array_agg(t.id))[1]
    from told as t
    where t.graph_run_id is not null
    group by t.tenant_id, t.graph_run_id, t.step, t.state
    -- end fragment
)

select
    w.id,
    w.state
from waiting as w
union all
select
    t.id,
    t.state
from told as t;
