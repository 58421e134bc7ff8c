-- The fields of these jobs that a run needs.
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
from rota.jobs as j
inner join rota.policies as p on j.policy_id = p.id
left join rota.tenants as t on j.tenant_id = t.id
where
    j.id = any(:ids::uuid[])
    and j.state <> 'deleted';
