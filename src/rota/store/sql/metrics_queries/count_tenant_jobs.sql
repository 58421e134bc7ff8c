-- How many jobs of a tenant are in each state, reading a limited number.
select
    counted.state,
    count(*) as number
from (
    select j.state
    from rota.jobs as j
    where j.tenant_id = :tenant_id::integer
    limit :most::integer
) as counted
group by counted.state
order by counted.state;
