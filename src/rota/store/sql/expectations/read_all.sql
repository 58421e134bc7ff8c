-- The rules of a tenant, or of all tenants, by tenant and name.
select
    e.id,
    e.tenant_id,
    e.name,
    e.selector,
    e.condition,
    e.policy,
    e.is_enabled,
    e.version,
    e.project,
    e.created_at,
    e.updated_at
from rota.expectations as e
where
    (:tenant_id::integer is null or e.tenant_id = :tenant_id::integer)
order by e.tenant_id, e.name;
