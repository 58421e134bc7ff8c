-- The routes that the file of a project declares.
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
    and r.project = :project::text
order by r.name;
