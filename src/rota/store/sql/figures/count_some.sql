-- How many runs of a tenant ended within a range of ids, at most so many.
select count(*) as number
from (
    select 1
    from rota.runs as r
    where
        r.tenant_id = :tenant_id::integer
        and r.id >= :from_id::uuid
        and r.id < :to_id::uuid
    limit :most::integer
) as counted;
