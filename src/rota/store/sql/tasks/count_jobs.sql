-- How many jobs of each kind a tenant has; counts only a limited number of the newest jobs.
select
    counted.kind_id,
    count(*) as number
from (
    select j.kind_id
    from rota.jobs as j
    where
        j.tenant_id = :tenant_id::integer
        and j.state <> 'deleted'
    order by j.created_at desc, j.id desc
    limit :most::integer
) as counted
group by counted.kind_id
order by counted.kind_id;
