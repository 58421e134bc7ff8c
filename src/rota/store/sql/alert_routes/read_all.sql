-- The routes of a tenant, or of all tenants, by tenant and name.
select
    r.tenant_id,
    r.name,
    r.steps,
    r.version,
    r.project,
    r.created_at,
    r.updated_at
from rota.alert_routes as r
where
    (:tenant_id::integer is null or r.tenant_id = :tenant_id::integer)
order by r.tenant_id, r.name;
