-- The steps of routes by name.
select
    r.tenant_id,
    r.name,
    r.steps
from rota.alert_routes as r
inner join
    unnest(:tenant_ids::integer[], :names::text[]) as n (tenant_id, name)
    on r.tenant_id = n.tenant_id and r.name = n.name;
