-- Replace a run that waits for its first attempt with the requested one: its time, payload and
-- priority. One that was claimed meanwhile is not returned, and nothing changes.
update rota.live_runs as r
set
    scheduled_at = :due_at::timestamptz,
    due_at = :due_at::timestamptz,
    ready_at = greatest(:due_at::timestamptz, rota.now()),
    deadline_at = :deadline_at::timestamptz,
    priority = :priority::smallint,
    job_version = :job_version::integer,
    policy_id = :policy_id::integer,
    payload = :payload::jsonb,
    gates = :gates::integer[],
    changed_at = rota.now()
where
    r.id = :id::uuid
    and r.tenant_id = :tenant_id::integer
    and r.job_id = :job_id::uuid
    and r.state = 'queued'
    and r.attempt = 0
returning r.id;
