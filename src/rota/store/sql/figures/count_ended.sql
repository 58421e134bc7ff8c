-- What became of the newest runs of all tenants that were due from an id on: how many ended in each
-- state, and how long they waited and took. A sample of at most so many.
with newest as (
    select
        r.state,
        case when r.attempt = 1 and r.trigger <> 'replay' then r.started_at - r.due_at end as wait,
        r.finished_at - r.started_at as duration
    from rota.runs as r
    where r.id >= :from_id::uuid
    order by r.id desc
    limit :most::integer
)

select
    n.state,
    count(*) as number,
    percentile_cont(0.5) within group (order by n.wait) as wait_p50,
    percentile_cont(0.99) within group (order by n.wait) as wait_p99,
    percentile_cont(0.5) within group (order by n.duration) as duration_p50,
    percentile_cont(0.99) within group (order by n.duration) as duration_p99
from newest as n
group by grouping sets ((n.state), ())
order by n.state;
