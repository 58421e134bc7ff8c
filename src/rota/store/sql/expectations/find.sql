-- Rules of a tenant by name.
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
    e.tenant_id = :tenant_id::integer
    and e.name = any(:names::text[])
order by e.name;
