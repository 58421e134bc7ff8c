-- How many jobs of a tenant are not finished, counted up to `most`.
select count(*) as number
from (
    select 1
    from rota.jobs as j
    where
        j.tenant_id = :tenant_id::integer
        and j.state in ('active', 'paused', 'quarantined')
    limit :most::integer
) as counted;
