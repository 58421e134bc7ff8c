-- Jobs and rules of a tenant that report to a route, at most a few.
select u.name
from (
    select e.name
    from rota.expectations as e
    where
        e.tenant_id = :tenant_id::integer
        and e.policy ->> 'to' = :name::text
    union all
    select j.name
    from rota.jobs as j
    where
        j.tenant_id = :tenant_id::integer
        and j.state <> 'deleted'
        -- As the index jobs_expecting says it.
        and (j.expect is not null or j.alert is not null)
        and j.alert ->> 'to' = :name::text
) as u
order by u.name
limit :most::integer;
