-- Which of these names jobs have already.
select
    j.tenant_id,
    j.name
from unnest(:tenant_ids::integer[], :names::text[]) as n (tenant_id, name)
inner join rota.jobs as j on n.tenant_id = j.tenant_id and n.name = j.name
where j.state <> 'deleted';
