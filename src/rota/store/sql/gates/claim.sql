-- Claim the runs that may pass their gates, which the caller has locked. A run that was claimed,
-- cancelled or put off meanwhile, or whose row another transaction has locked, is not returned.
update rota.live_runs as r
set
    state = 'running',
    attempt = r.attempt + 1,
    session_id = :session_id::uuid,
    started_at = clock.now
from (select rota.now() as now) as clock
where
    r.ctid = any(array(
        select w.ctid
        from unnest(:ids::uuid[]) as chosen (id)
        inner join rota.live_runs as w on chosen.id = w.id
        where
            -- Means queued or retrying. Written out, the planner could use a partial index.
            w.session_id is null
            and w.state <> 'blocked'
            and w.ready_at <= (select rota.now())
            -- As in live_runs/claim: paused queues and tenants start nothing, nor does a session
            -- whose lease has expired.
            and w.tenant_id <> all(array(
                select t.id from rota.tenants as t
                where t.paused_at is not null
            ))
            and w.queue_id <> all(array(
                select q.id from rota.queues as q
                where q.paused_at is not null
            ))
            -- One number for both: the planner would turn a pair into a join.
            and w.tenant_id * 4294967296 + w.queue_id <> all(array(
                select tq.tenant_id * 4294967296 + tq.queue_id from rota.tenant_queues as tq
                where tq.paused_at is not null
            ))
            and exists (
                select 1 from rota.sessions as s
                where
                    s.id = :session_id::uuid
                    and s.expires_at > rota.now()
            )
        for update of w skip locked
    ))
returning
    r.id,
    r.job_id,
    r.job_version,
    r.attempt,
    r.failures,
    r.tenant_id,
    r.kind_id,
    r.policy_id,
    r.priority,
    r.scheduled_at,
    r.due_at,
    r.ready_at,
    r.started_at,
    r.deadline_at,
    r.payload;
