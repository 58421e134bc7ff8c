-- The names among these that jobs already have. Each name is looked up separately (`offset 0`
-- prevents a join): joined with all jobs of the tenant, a thousand names take seconds.
select
    n.tenant_id,
    n.name
from unnest(:tenant_ids::integer[], :names::text[]) as n (tenant_id, name)
where
    exists (
        select 1 from rota.jobs as j
        where
            j.tenant_id = n.tenant_id
            and j.name = n.name
            and j.state in ('active', 'paused', 'quarantined', 'finished')
        offset 0
    );
