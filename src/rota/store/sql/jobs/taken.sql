-- Which of these names jobs have already. Each name is looked up by itself (`offset 0` keeps it
-- from becoming a join): joined with all jobs of the tenant, a thousand names take seconds.
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
