-- How many runs of a tenant wait, counted up to `most`. Uses the indexes of claims: runs without
-- gates queue by queue, the others by their first gate, which is always one of the tenant's.
select count(*) as number
from (
    select 1
    from rota.queues as q
    cross join
        lateral (
            select 1
            from rota.live_runs as r
            where
                r.queue_id = q.id
                and r.tenant_id = :tenant_id::integer
                and r.state in ('queued', 'retrying')
                and r.gates is null
            limit :most::integer
        ) as free
    union all
    select 1
    from rota.gates as g
    cross join
        lateral (
            select 1
            from rota.live_runs as r
            where
                r.gates[1]::bigint = g.id
                and r.tenant_id = :tenant_id::integer
                and r.state in ('queued', 'retrying')
                and r.gates is not null
            limit :most::integer
        ) as gated
    where g.tenant_id = :tenant_id::integer
    limit :most::integer
) as counted;
