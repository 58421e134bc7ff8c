-- The hooks of a tenant by name, without their secrets.
select
    h.id,
    h.name,
    h.type,
    h.style,
    h.version,
    h.created_at,
    h.used_at
from rota.hooks as h
where
    h.tenant_id = :tenant_id::integer
    and h.name > :after::text
order by h.name
limit :most::integer;
