-- Replace the steps of a route that still has the version that the caller read.
update rota.alert_routes as r
set
    steps = :steps::jsonb,
    project = :project::text,
    version = r.version + 1,
    updated_at = rota.now()
where
    r.tenant_id = :tenant_id::integer
    and r.name = :name::text
    and r.version = :version::integer
returning
    r.tenant_id,
    r.name,
    r.steps,
    r.version,
    r.project,
    r.created_at,
    r.updated_at;
