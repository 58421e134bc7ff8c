-- Move attempts of one session to history, each with its final state. A missing row was lost: its
-- attempt or session no longer holds the run, and nothing changed.
-- A run that was asked to cancel first ends as cancelled, whatever the handler returns (reliability
-- table 3.4). A session is set exactly while a run is held (a check constraint), so the state need
-- not be compared again; comparing would let the planner join through the index of held runs.
with ended as (
    delete from rota.live_runs as r
    using
        unnest(
            :ids::uuid[],
            :attempts::smallint[],
            :states::rota.run_state[],
            :failures::smallint[],
            :results::jsonb[],
            :reasons::jsonb[]
        ) as e (id, attempt, state, failures, result, reason)
    where
        r.id = e.id
        and r.attempt = e.attempt
        and r.session_id = :session_id::uuid
    returning
        r.*,
        e.state as wanted,
        coalesce(e.failures, r.failures) as failed,
        e.result,
        e.reason
),

told as (
    -- fragment: ended_run row=e
    --   finished_at: clock.now
    --   state: case when e.state = 'cancelling' then 'cancelled' else e.wanted end
    --   failures: e.failed
    insert into rota.runs (
        id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at,
        tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
        attempt, failures, losses, payload, result, reason, gates, graph_run_id, step, member, name,
        labels, user_id, submitter, address
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
        case when e.state = 'cancelling' then 'cancelled' else e.wanted end,
        e.state,
        e.trigger,
        e.priority,
        e.attempt,
        e.failed,
        e.losses,
        e.payload,
        e.result,
        e.reason,
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
    cross join (select rota.now() as now) as clock
    returning id, state, tenant_id, graph_run_id, step, member
),

-- The end of a step also inserts a completion record (docs/adr/0018-step-completions.md).
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
    returning graph_run_id
)

select
    array_agg(t.id) as ids,
    array_agg(t.state) as states,
    (
        select array_agg(distinct m.graph_run_id) from marked as m
    ) as graph_run_ids
from told as t;
