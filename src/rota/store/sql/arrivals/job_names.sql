-- What these jobs of a tenant are called, also those that are deleted.
select
    j.id,
    j.name
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.id = any(:ids::uuid[]);
