-- The secrets of a tenant by name, without their values.
select
    s.name,
    s.version,
    s.updated_at
from rota.secrets as s
where
    s.tenant_id = :tenant_id::integer
    and s.name > :after::text
order by s.name
limit :most::integer;
