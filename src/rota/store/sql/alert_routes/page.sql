-- The routes of a tenant by name.
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
    and r.name > :after::text
order by r.name
limit :most::integer;
