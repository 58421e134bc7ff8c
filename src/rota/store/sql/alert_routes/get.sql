-- One route of a tenant.
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
    r.tenant_id = :tenant_id::integer
    and r.name = :name::text;
