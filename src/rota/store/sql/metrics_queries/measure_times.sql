-- The lags and durations of a tenant's runs: a limited number of the newest by id that ended since
-- a time, and as many that ended more than an hour after the time in their ids.
with newest as (
    (
        select
            u.trigger,
            u.attempt,
            u.due_at,
            u.created_at,
            u.started_at,
            u.finished_at
        from rota.runs as u
        where
            u.tenant_id = :tenant_id::integer
            and u.id >= :from_id::uuid
        order by u.id desc
        limit :most::integer
    )
    union all
    (
        select
            u.trigger,
            u.attempt,
            u.due_at,
            u.created_at,
            u.started_at,
            u.finished_at
        from rota.runs as u
        where
            u.tenant_id = :tenant_id::integer
            and u.id < :from_id::uuid
            and u.finished_at >= :since::timestamptz
            and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
        order by u.finished_at desc
        limit :most::integer
    )
),

measured as (
    select
        rota.start_lag(
            n.trigger, n.attempt, n.due_at, n.created_at, n.started_at
        ) as lag,
        n.finished_at - n.started_at as duration
    from newest as n
    where
        n.started_at is not null
        and n.finished_at >= :since::timestamptz
)

select
    count(*) as sampled,
    percentile_cont(0.5) within group (order by m.lag) as lag_p50,
    percentile_cont(0.99) within group (order by m.lag) as lag_p99,
    percentile_cont(0.5) within group (order by m.duration) as duration_p50,
    percentile_cont(0.99) within group (order by m.duration) as duration_p99
from measured as m;
