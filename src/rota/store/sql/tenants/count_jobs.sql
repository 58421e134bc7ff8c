-- How many jobs of a tenant are unfinished, counted up to `most`. A scheduled submission counts as
-- one.
select count(*) as number
from (
    select 1
    from rota.jobs as j
    where
        j.tenant_id = :tenant_id::integer
        and j.state in ('active', 'paused', 'quarantined')
    union all
    select 1
    from rota.scheduled_runs as s
    where s.tenant_id = :tenant_id::integer
    limit :most::integer
) as counted;
