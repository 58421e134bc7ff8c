-- Move graph runs whose last step is decided to history. A nested one inserts a completion record
-- for its parent graph run. A missing row was cancelled or expired meanwhile.
with ended as (
    delete from rota.live_runs as r
    using
        unnest(
            :ids::uuid[],
            :states::rota.run_state[],
            :results::jsonb[],
            :reasons::jsonb[]
        ) as e (id, state, result, reason)
    where
        r.id = e.id
        and r.state = 'blocked'
    returning
        r.*,
        e.state as final,
        e.result,
        e.reason
),

told as (
    -- fragment: ended_run row=e
    --   without: name, labels, user_id, submitter, address
    --   finished_at: clock.now
    insert into rota.runs (
        id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at,
        tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
        attempt, failures, losses, payload, result, reason, gates, graph_run_id, step, member
    )
    select
        e.id,
        e.job_id,
        e.session_id,
        e.scheduled_at,
        e.due_at,
        e.created_at,
        e.started_at,
        clock.now,
        e.tenant_id,
        e.queue_id,
        e.kind_id,
        e.policy_id,
        e.job_version,
        e.final,
        e.state,
        e.trigger,
        e.priority,
        e.attempt,
        e.failures,
        e.losses,
        e.payload,
        e.result,
        e.reason,
        e.gates,
        e.graph_run_id,
        e.step,
        e.member
    -- end fragment
    from ended as e
    cross join (select rota.now() as now) as clock
    returning id, state, tenant_id, graph_run_id, step, member, gates
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
    t.id,
    t.state,
    t.graph_run_id,
    t.gates is not null as is_gated
from told as t;
