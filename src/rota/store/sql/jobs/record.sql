-- Record ticks of one job that did not become runs. A tick that is already recorded stays as it is.
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id, kind_id,
    policy_id, job_version, state, trigger, priority, payload, reason
)
select
    n.id, :job_id::uuid, n.scheduled_at, n.due_at, rota.now(), rota.now(),
    :tenant_id::integer, :queue_id::integer, :kind_id::integer, :policy_id::integer,
    :job_version::integer, n.state, :trigger::rota.run_trigger, :priority::smallint,
    n.payload, n.reason
from
    unnest(
        :ids::uuid[],
        :scheduled_ats::timestamptz[],
        :scheduled_ats::timestamptz[],
        :states::rota.run_state[],
        :payloads::jsonb[],
        :reasons::jsonb[]
    ) as n (id, scheduled_at, due_at, state, payload, reason)
on conflict do nothing
returning id;
