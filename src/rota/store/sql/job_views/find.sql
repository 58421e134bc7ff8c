-- The job of a tenant that currently has a name.
select j.id
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.name = :name::text
    and j.state in ('active', 'paused', 'quarantined', 'finished');
