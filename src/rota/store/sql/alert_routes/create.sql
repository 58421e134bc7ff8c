-- Create a route, unless the tenant has another of this name.
insert into rota.alert_routes as r (tenant_id, name, steps, project)
values (:tenant_id::integer, :name::text, :steps::jsonb, :project::text)
on conflict (tenant_id, name) do nothing
returning
    r.tenant_id,
    r.name,
    r.steps,
    r.version,
    r.project,
    r.created_at,
    r.updated_at;
