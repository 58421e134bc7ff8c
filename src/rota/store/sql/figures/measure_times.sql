-- How long the newest runs of a tenant waited for their first attempt and how long their last one
-- took, from a sample of at most so many.
with newest as (
    select
        case when r.attempt = 1 and r.trigger <> 'replay' then r.started_at - r.due_at end as wait,
        r.finished_at - r.started_at as duration
    from rota.runs as r
    where
        r.tenant_id = :tenant_id::integer
        and r.id >= :from_id::uuid
        and r.started_at is not null
    order by r.id desc
    limit :most::integer
)

select
    count(*) as sampled,
    percentile_cont(0.5) within group (order by n.wait) as wait_p50,
    percentile_cont(0.99) within group (order by n.wait) as wait_p99,
    percentile_cont(0.5) within group (order by n.duration) as duration_p50,
    percentile_cont(0.99) within group (order by n.duration) as duration_p99
from newest as n;
