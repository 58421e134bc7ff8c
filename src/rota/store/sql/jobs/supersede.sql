-- End waiting runs that a newer run of the same job replaces. One that was started meanwhile stays
-- and is not returned.
with ended as (
    delete from rota.live_runs as r
    where
        r.id = any(:ids::uuid[])
        and r.state = 'queued'
        and r.attempt = 0
    returning r.*
)

-- fragment: ended_run row=e
--   without: session_id, started_at, result, graph_run_id, step, member
--   without: name, labels, user_id, submitter, address
--   state: 'skipped'
--   reason: jsonb_build_object('code', 'overlap', 'into', :into_id::uuid)
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
    policy_id, job_version, state, left_state, trigger, priority, attempt, failures, losses,
    payload, reason, gates
)
select
    e.id,
    e.job_id,
    e.scheduled_at,
    e.due_at,
    e.created_at,
    rota.now(),
    e.tenant_id,
    e.queue_id,
    e.kind_id,
    e.policy_id,
    e.job_version,
    'skipped',
    e.state,
    e.trigger,
    e.priority,
    e.attempt,
    e.failures,
    e.losses,
    e.payload,
    jsonb_build_object('code', 'overlap', 'into', :into_id::uuid),
    e.gates
-- end fragment
from ended as e
returning id;
