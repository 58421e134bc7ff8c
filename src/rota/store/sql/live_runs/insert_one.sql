-- Insert one run of a job, with a newly generated id. For jobs whose runs pass no gates and have no
-- deadline, of tenants without a quota on waiting runs, which is nearly all; for any other job, or
-- one that does not exist, nothing is inserted. One statement, because a caller waits for it.
insert into rota.live_runs (
    id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id, queue_id, kind_id,
    policy_id, job_version, state, trigger, priority, guarantee, payload
)
select
    :id::uuid,
    j.id,
    :due_at::timestamptz,
    :due_at::timestamptz,
    greatest(:due_at::timestamptz, clock.now),
    clock.now,
    j.tenant_id,
    j.queue_id,
    j.kind_id,
    j.policy_id,
    j.version,
    'queued',
    :trigger::rota.run_trigger,
    coalesce(:priority::smallint, j.priority),
    j.guarantee,
    :payload::jsonb
from rota.jobs as j
inner join rota.policies as p on j.policy_id = p.id
cross join (select rota.now() as now) as clock
where
    j.id = :job_id::uuid
    and j.state <> 'deleted'
    and j.limits is null
    and j.overlap <> all(:one_by_one::rota.overlap[])
    and coalesce(p.body ->> 'deadline', 'none') = 'none'
    and not exists (
        select 1 from rota.tenants as t
        where
            t.id = j.tenant_id
            and (t.default_quotas || t.quotas) ->> 'max_queued' is not null
    )
returning id;
