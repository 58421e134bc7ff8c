-- Replace a rule that still has the version that the caller read.
update rota.expectations as e
set
    name = :name::text,
    selector = :selector::jsonb,
    condition = :condition::jsonb,
    policy = :policy::jsonb,
    is_enabled = :is_enabled::boolean,
    project = :project::text,
    version = e.version + 1,
    updated_at = rota.now()
where
    e.id = :id::uuid
    and e.tenant_id = :tenant_id::integer
    and e.version = :version::integer
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
