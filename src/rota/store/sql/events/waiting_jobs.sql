-- The jobs of a tenant that wait for one of these types, given with all matching patterns, with the
-- fields that a run needs. Each job is looked up separately (`offset 0`), and its state is checked
-- afterwards: under row-level security the planner would use the index of names that are not
-- deleted, and read all jobs of the tenant.
select
    j.id,
    j.tenant_id,
    j.state,
    j.version,
    j.kind_id,
    j.queue_id,
    j.policy_id,
    j.priority,
    j.overlap,
    j.keep_first,
    j.when_queue_paused,
    j.guarantee,
    j.schedule,
    j.payload,
    j.limits,
    p.body as policy,
    t.default_quotas || t.quotas as quotas,
    j.graph_id,
    j.version - j.version_skips as definition_version
from (
    select distinct w.job_id
    from rota.event_types as w
    where
        w.tenant_id = :tenant_id::integer
        and w.type = any(:types::text[])
) as n
cross join
    lateral (
        select o.*
        from rota.jobs as o
        where o.id = n.job_id
        offset 0
    ) as j
inner join rota.policies as p on j.policy_id = p.id
left join rota.tenants as t on j.tenant_id = t.id
where j.state <> 'deleted'
order by j.id;
