-- Dead letters of all tenants that were due from an id on, by state, counted up to a limit.
select
    counted.state,
    count(*) as number
from (
    select r.state
    from rota.runs as r
    where
        r.id >= :from_id::uuid
        and r.state in ('dead', 'lost', 'quarantined')
    limit :most::integer
) as counted
group by counted.state
order by counted.state;
