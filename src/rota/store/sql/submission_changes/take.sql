-- Remove a submission that has not started from where it waits, so that it can be written again. A
-- run that a worker holds or held is not returned, and nothing changes.
with ahead as (
    delete from rota.scheduled_runs as s
    where
        s.tenant_id = :tenant_id::integer
        and s.id = :id::uuid
    returning s.*
),

made as (
    delete from rota.live_runs as l
    where
        l.id = :id::uuid
        and l.tenant_id = :tenant_id::integer
        and l.state = 'queued'
        and l.attempt = 0
    returning l.*
),

taken as (
    select
        a.id, coalesce(a.job_id, a.id) as job_id, a.due_at, a.created_at, a.queue_id, a.kind_id,
        a.policy_id, a.priority, a.guarantee, a.deadline, a.gates, a.payload, a.name, a.labels,
        a.user_id, a.submitter, a.address, false as is_live
    from ahead as a
    union all
    select
        m.id, m.job_id, m.due_at, m.created_at, m.queue_id, m.kind_id, m.policy_id, m.priority,
        m.guarantee, m.deadline_at - m.due_at as deadline, m.gates, m.payload, m.name, m.labels,
        m.user_id, m.submitter, m.address, true as is_live
    from made as m
)

select
    t.*,
    p.body as policy,
    k.name as kind,
    q.name as queue,
    n.name as tenant,
    n.default_quotas || n.quotas as quotas
from taken as t
inner join rota.policies as p on t.policy_id = p.id
inner join rota.kinds as k on t.kind_id = k.id
inner join rota.queues as q on t.queue_id = q.id
left join rota.tenants as n on n.id = :tenant_id::integer;
