-- How many limit keys a tenant has, counted up to `most`.
select count(*) as number
from (
    select 1
    from rota.gates as g
    where g.tenant_id = :tenant_id::integer
    limit :most::integer
) as counted;
