-- Insert a submission that is due, to wait for a worker.
insert into rota.live_runs (
    id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id, queue_id,
    kind_id, policy_id, job_version, state, trigger, priority, guarantee, gates, payload, name,
    labels, user_id, submitter, address, changed_at
)
select
    :id::uuid, :job_id::uuid, :due_at::timestamptz, :due_at::timestamptz,
    greatest(:due_at::timestamptz, clock.now), :created_at::timestamptz,
    :due_at::timestamptz + :deadline::interval, :tenant_id::integer, :queue_id::integer,
    :kind_id::integer, :policy_id::integer, 1, 'queued', :trigger::rota.run_trigger,
    :priority::smallint, :guarantee::rota.guarantee, :gates::integer[], :payload::jsonb,
    :name::text, :labels::jsonb, :user_id::text, :submitter::text, :address::text, clock.now
from (select rota.now() as now) as clock
returning id;
