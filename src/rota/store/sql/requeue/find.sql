-- One run of a tenant, unfinished or finished, with its settings. Other tenants' runs are not
-- found.
with found as (
    select
        l.id, l.job_id, l.job_version, l.state, l.scheduled_at, l.priority, l.queue_id, l.kind_id,
        l.policy_id, l.gates, l.payload
    from rota.live_runs as l
    where
        l.id = :id::uuid
        and l.tenant_id = :tenant_id::integer
    union all
    select
        r.id, r.job_id, r.job_version, r.state, r.scheduled_at, r.priority, r.queue_id, r.kind_id,
        r.policy_id, r.gates, r.payload
    from rota.runs as r
    where
        r.id = :id::uuid
        and r.tenant_id = :tenant_id::integer
)

select
    f.id,
    f.job_id,
    f.job_version,
    f.state,
    f.scheduled_at,
    f.priority,
    f.queue_id,
    f.kind_id,
    f.policy_id,
    p.body as policy,
    f.gates,
    j.id is not null as has_job,
    coalesce(
        f.payload, case when u.number is not null then coalesce(u.payload, 'null') end
    ) as payload
from found as f
left join rota.policies as p on f.policy_id = p.id
left join rota.jobs as j on f.job_id = j.id
left join lateral rota.definition_used(f.job_id, f.job_version) as u on true;
