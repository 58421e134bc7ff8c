-- The jobs of a tenant that currently have these names.
select
    j.id,
    j.name
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.name = any(:names::text[])
    and j.state in ('active', 'paused', 'quarantined', 'finished');
