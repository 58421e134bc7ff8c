-- One run of a tenant, unfinished or finished, with its queue, its kind, the pauses and gates of
-- queue, tenant and the tenant's queue, its worker, and the outcome of its last attempt.
with found as (
    select
        l.id,
        l.job_id,
        l.state,
        l.session_id,
        l.due_at,
        l.ready_at,
        l.started_at,
        null::timestamptz as finished_at,
        l.deadline_at,
        l.tenant_id,
        l.queue_id,
        l.kind_id,
        l.priority,
        l.attempt,
        l.failures,
        l.losses,
        l.gates,
        null::jsonb as reason
    from rota.live_runs as l
    where
        l.id = :run_id::uuid
        and l.tenant_id = :tenant_id::integer
    union all
    select
        r.id,
        r.job_id,
        r.state,
        r.session_id,
        r.due_at,
        r.due_at as ready_at,
        r.started_at,
        r.finished_at,
        null::timestamptz as deadline_at,
        r.tenant_id,
        r.queue_id,
        r.kind_id,
        r.priority,
        r.attempt,
        r.failures,
        r.losses,
        r.gates,
        r.reason
    from rota.runs as r
    where
        r.id = :run_id::uuid
        and r.tenant_id = :tenant_id::integer
)

select
    f.id,
    f.job_id,
    f.state,
    f.due_at,
    f.ready_at,
    f.started_at,
    f.finished_at,
    f.deadline_at,
    f.tenant_id,
    f.queue_id,
    f.kind_id,
    f.priority,
    f.attempt,
    f.failures,
    f.losses,
    f.gates,
    f.reason,
    q.name as queue,
    q.paused_at as queue_paused_at,
    q.gate_id as queue_gate,
    tq.paused_at as tenant_queue_paused_at,
    tq.paused_by as tenant_queue_paused_by,
    tq.gate_id as tenant_queue_gate,
    t.name as tenant,
    t.paused_at as tenant_paused_at,
    t.gate_id as tenant_gate,
    k.name as kind,
    s.name as worker,
    coalesce(s.expires_at > rota.now(), false) as is_worker_alive,
    a.outcome as last_outcome,
    a.reason as last_reason,
    rota.now() as now
from found as f
left join rota.queues as q on f.queue_id = q.id
left join rota.tenant_queues as tq on f.tenant_id = tq.tenant_id and f.queue_id = tq.queue_id
left join rota.tenants as t on f.tenant_id = t.id
left join rota.kinds as k on f.kind_id = k.id
left join rota.sessions as s on f.session_id = s.id
left join rota.attempts as a on f.id = a.run_id and f.attempt = a.attempt;
