-- The newest runs of all tenants that ended since a time: how many ended in each state, how late
-- they started and how long they took. A limited sample by id, and per tenant as many of those that
-- ended more than an hour after the time in their ids.
with newest as (
    (
        select
            u.state,
            u.trigger,
            u.attempt,
            u.due_at,
            u.created_at,
            u.started_at,
            u.finished_at
        from rota.runs as u
        where u.id >= :from_id::uuid
        order by u.id desc
        limit :most::integer
    )
    union all
    select late.*
    from rota.tenants as t
    cross join
        lateral (
            select
                u.state,
                u.trigger,
                u.attempt,
                u.due_at,
                u.created_at,
                u.started_at,
                u.finished_at
            from rota.runs as u
            where
                u.tenant_id = t.id
                and u.id < :from_id::uuid
                and u.finished_at >= :since::timestamptz
                and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
            order by u.finished_at desc
            limit :most::integer
        ) as late
),

measured as (
    select
        n.state,
        rota.start_lag(
            n.trigger, n.attempt, n.due_at, n.created_at, n.started_at
        ) as lag,
        n.finished_at - n.started_at as duration
    from newest as n
    where n.finished_at >= :since::timestamptz
)

select
    m.state,
    count(*) as number,
    percentile_cont(0.5) within group (order by m.lag) as lag_p50,
    percentile_cont(0.99) within group (order by m.lag) as lag_p99,
    percentile_cont(0.5) within group (order by m.duration) as duration_p50,
    percentile_cont(0.99) within group (order by m.duration) as duration_p99
from measured as m
group by grouping sets ((m.state), ())
order by m.state;
