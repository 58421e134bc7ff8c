-- Cancel runs: a waiting one ends at once, a running one is asked to stop. A missing row had
-- finished or never existed.
with chosen as (
    select
        r.id,
        r.state
    from rota.live_runs as r
    where r.id = any(:ids::uuid[])
    order by r.id
    for update
),

ended as (
    delete from rota.live_runs as r
    using chosen as c
    where
        r.id = c.id
        and c.state in ('blocked', 'queued', 'retrying')
    returning r.*
),

asked as (
    update rota.live_runs as r
    set
        state = 'cancelling',
        changed_at = rota.now()
    from chosen as c
    where
        r.id = c.id
        and c.state = 'running'
    returning r.id
),

told as (
    -- fragment: ended_run row=e without=session_id,result
    --   state: 'cancelled'
    --   reason: :reason::jsonb
    insert into rota.runs (
        id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt, failures,
        losses, payload, reason, gates, graph_run_id, step, member, name, labels, user_id,
        submitter, address
    )
    select
        e.id,
        e.job_id,
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
        'cancelled',
        e.state,
        e.trigger,
        e.priority,
        e.attempt,
        e.failures,
        e.losses,
        e.payload,
        :reason::jsonb,
        e.gates,
        e.graph_run_id,
        e.step,
        e.member,
        e.name,
        e.labels,
        e.user_id,
        e.submitter,
        e.address
    -- end fragment
    from ended as e
),

marked as (
    -- fragment: step_cancellations state='cancelled'
    insert into rota.step_marks (tenant_id, graph_run_id, step, state, ended, members, run_id)
    select
        e.tenant_id,
        e.graph_run_id,
        e.step,
        'cancelled'::rota.run_state,
        count(*),
        count(e.member),
        (array_agg(e.id))[1]
    from ended as e
    where e.graph_run_id is not null
    group by e.tenant_id, e.graph_run_id, e.step
    union all
    -- The steps of a graph run must be cancelled too.
    select
        e.tenant_id,
        e.id,
        -1,
        null,
        1,
        0,
        null
    from ended as e
    where e.state = 'blocked'
    -- end fragment
)

select
    c.id,
    case
        when c.state in ('blocked', 'queued', 'retrying') then 'cancelled'
        else 'cancelling'
    end::rota.run_state as state
from chosen as c;
