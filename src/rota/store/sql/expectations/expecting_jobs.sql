-- Jobs of a tenant with expectations of their own, at most a number.
select
    j.id,
    j.tenant_id,
    j.name,
    j.expect::text as expect,
    j.alert::text as alert,
    j.schedule ->> 'timezone' as timezone,
    j.created_at
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.state <> 'deleted'
    and j.expect is not null
    -- As the index jobs_expecting says it.
    and (j.expect is not null or j.alert is not null)
order by j.id
limit :most::integer;
