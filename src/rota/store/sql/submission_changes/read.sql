-- The run of a submission that a worker holds or held, with the fields needed to run it again.
with found as (
    select
        l.id, l.job_id, l.due_at, l.created_at, l.queue_id, l.kind_id, l.policy_id, l.priority,
        l.gates, l.payload, l.name, l.labels, l.user_id, l.submitter, l.address, true as is_live
    from rota.live_runs as l
    where
        l.id = :id::uuid
        and l.tenant_id = :tenant_id::integer
    union all
    select
        r.id, r.job_id, r.due_at, r.created_at, r.queue_id, r.kind_id, r.policy_id, r.priority,
        r.gates, r.payload, r.name, r.labels, r.user_id, r.submitter, r.address, false as is_live
    from rota.runs as r
    where
        r.id = :id::uuid
        and r.tenant_id = :tenant_id::integer
)

select
    f.id, f.job_id, f.due_at, f.created_at, f.queue_id, f.kind_id, f.policy_id, f.priority,
    coalesce(p.body ->> 'guarantee', 'at_least_once') as guarantee,
    case when p.body ->> 'deadline' <> 'none' then (p.body ->> 'deadline')::interval end
        as deadline,
    f.gates, f.payload, f.name, f.labels, f.user_id, f.submitter, f.address, f.is_live,
    p.body as policy,
    k.name as kind,
    q.name as queue,
    n.name as tenant,
    n.default_quotas || n.quotas as quotas
from found as f
inner join rota.policies as p on f.policy_id = p.id
inner join rota.kinds as k on f.kind_id = k.id
inner join rota.queues as q on f.queue_id = q.id
left join rota.tenants as n on n.id = :tenant_id::integer;
