-- Insert a submission that waits for its due time.
insert into rota.scheduled_runs (
    tenant_id, id, job_id, shard, due_at, created_at, queue_id, kind_id, policy_id, priority,
    guarantee, deadline, gates, payload, name, labels, user_id, submitter, address
)
values (
    :tenant_id::integer, :id::uuid, nullif(:job_id::uuid, :id::uuid), :shard::smallint,
    :due_at::timestamptz, :created_at::timestamptz, :queue_id::integer, :kind_id::integer,
    :policy_id::integer, :priority::smallint, :guarantee::rota.guarantee, :deadline::interval,
    :gates::integer[], :payload::jsonb, :name::text, :labels::jsonb, :user_id::text,
    :submitter::text, :address::text
)
returning id;
