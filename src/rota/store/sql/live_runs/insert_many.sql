-- Insert requested runs. An id that exists already, unfinished or finished, inserts nothing.
insert into rota.live_runs (
    id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id, queue_id,
    kind_id, policy_id, job_version, state, trigger, priority, guarantee, payload, gates
)
select
    n.id,
    n.job_id,
    n.scheduled_at,
    n.due_at,
    greatest(n.due_at, clock.now),
    clock.now,
    n.deadline_at,
    n.tenant_id,
    n.queue_id,
    n.kind_id,
    n.policy_id,
    n.job_version,
    'queued',
    n.trigger,
    n.priority,
    n.guarantee,
    n.payload,
    n.gates::integer[]
from
    unnest(
        :ids::uuid[],
        :job_ids::uuid[],
        :scheduled_ats::timestamptz[],
        :due_ats::timestamptz[],
        :deadline_ats::timestamptz[],
        :tenant_ids::integer[],
        :queue_ids::integer[],
        :kind_ids::integer[],
        :policy_ids::integer[],
        :job_versions::integer[],
        :triggers::rota.run_trigger[],
        :priorities::smallint[],
        :guarantees::rota.guarantee[],
        :payloads::jsonb[],
        -- As text: an array of arrays would have to be rectangular.
        :gates::text[]
    ) as n (
        id, job_id, scheduled_at, due_at, deadline_at, tenant_id, queue_id, kind_id, policy_id,
        job_version, trigger, priority, guarantee, payload, gates
    )
cross join (select rota.now() as now) as clock
where
    not exists (
        select 1 from rota.runs as done
        where
            done.id = n.id
            and done.tenant_id = n.tenant_id
    )
on conflict (id) do nothing
returning id;
