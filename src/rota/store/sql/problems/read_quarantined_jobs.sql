-- The quarantined jobs among the newest jobs of a tenant, and why each was quarantined.
select
    n.id,
    n.name,
    n.held
from (
    select
        j.id,
        j.name,
        j.state,
        j.held
    from rota.jobs as j
    where j.tenant_id = :tenant_id::integer
    order by j.created_at desc, j.id desc
    limit :look::integer
) as n
where n.state = 'quarantined'
limit :most::integer;
