-- Move attempts of one session to history, each with its final state. What is not returned was
-- lost: its attempt or session is no longer the one that holds the run, and nothing changed.
-- Asked to cancel first means cancelled, whatever the handler says (reliability table 3.4).
-- A session is set exactly while a run is held (a check constraint), so the state need not be asked
-- again; asking would let the planner join through the index of held runs.
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
    insert into rota.runs (
        id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at,
        tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger,
        priority, attempt, failures, losses, payload, result, reason, gates
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
        e.gates
    from ended as e
    cross join (select rota.now() as now) as clock
    returning id, state
)

select
    array_agg(t.id) as ids,
    array_agg(t.state) as states
from told as t;
