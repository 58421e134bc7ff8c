-- The jobs with these names.
select
    j.tenant_id,
    j.name,
    j.id
from
    unnest(:tenant_ids::integer[], :names::text[]) as wanted (tenant_id, name)
inner join rota.jobs as j
    on
        wanted.tenant_id = j.tenant_id
        and wanted.name = j.name
where j.state in ('active', 'paused', 'quarantined', 'finished');
