-- Create a rule, unless the tenant has another of this name.
insert into rota.expectations as e
(id, tenant_id, name, selector, condition, policy, is_enabled, project)
values (
    :id::uuid,
    :tenant_id::integer,
    :name::text,
    :selector::jsonb,
    :condition::jsonb,
    :policy::jsonb,
    :is_enabled::boolean,
    :project::text
)
on conflict (tenant_id, name) do nothing
returning
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
    e.updated_at;
