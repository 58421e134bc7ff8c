-- The calendars of a tenant by name, after `after`.
select
    c.name,
    c.body,
    c.version,
    c.updated_at
from rota.calendars as c
where
    c.tenant_id = :tenant_id::integer
    and c.name > :after::text
order by c.name
limit :most::integer;
