-- Cancel a submission that is not due yet: history records it as a run that never started.
with taken as (
    delete from rota.scheduled_runs as s
    where
        s.tenant_id = :tenant_id::integer
        and s.id = :id::uuid
    returning s.*
)

-- fragment: ended_run row=t
--   without: session_id, started_at, attempt, failures, losses, result, graph_run_id, step, member
--   job_id: coalesce(t.job_id, t.id)
--   scheduled_at: t.due_at as scheduled_at
--   job_version: 1
--   state: 'cancelled'
--   left_state: 'queued'
--   trigger: 'api'
--   reason: :reason::jsonb
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
    policy_id, job_version, state, left_state, trigger, priority, payload, reason, gates, name,
    labels, user_id, submitter, address
)
select
    t.id,
    coalesce(t.job_id, t.id),
    t.due_at as scheduled_at,
    t.due_at,
    t.created_at,
    rota.now(),
    t.tenant_id,
    t.queue_id,
    t.kind_id,
    t.policy_id,
    1,
    'cancelled',
    'queued',
    'api',
    t.priority,
    t.payload,
    :reason::jsonb,
    t.gates,
    t.name,
    t.labels,
    t.user_id,
    t.submitter,
    t.address
-- end fragment
from taken as t
returning id;
