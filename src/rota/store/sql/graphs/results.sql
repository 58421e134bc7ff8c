-- The results of step runs, for the conditions and payloads of later steps.
select
    r.id,
    r.state,
    r.result,
    r.reason
from unnest(:ids::uuid[], :tenant_ids::integer[]) as i (id, tenant_id)
inner join rota.runs as r on i.id = r.id and i.tenant_id = r.tenant_id;
