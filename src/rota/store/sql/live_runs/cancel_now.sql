-- Cancel runs without waiting for whoever executes them: the run leaves the hot table at once, so
-- its worker's result is refused by the fence (semantics 10.3).
with ended as (
    delete from rota.live_runs as r
    where r.id = any(:ids::uuid[])
    returning r.*
)

insert into rota.runs (
    id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id,
    queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt,
    failures, losses, payload, reason, gates
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
    'cancelled',
    e.state,
    e.trigger,
    e.priority,
    e.attempt,
    e.failures,
    e.losses,
    e.payload,
    :reason::jsonb,
    e.gates
from ended as e
returning id;
