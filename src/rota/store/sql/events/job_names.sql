-- The names of these jobs of a tenant, including deleted ones.
select
    j.id,
    j.name
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.id = any(:ids::uuid[]);
