-- How many of a tenant's newest jobs are in each state, and when the next of them fires.
select
    counted.state,
    count(*) as number,
    min(counted.fire_at) as next_at
from (
    select
        rota.shown_state(j) as state,
        c.fire_at
    from rota.jobs as j
    left join rota.cursors as c on j.id = c.job_id
    where
        j.tenant_id = :tenant_id::integer
        and j.state <> 'deleted'
    order by j.created_at desc, j.id desc
    limit :most::integer
) as counted
group by counted.state
order by counted.state;
