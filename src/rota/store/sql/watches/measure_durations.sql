-- The 95th percentile of the durations of the newest successful runs of each job, and how many runs
-- it was measured from.
select
    p.job_id,
    measured.samples,
    measured.typical
from unnest(:job_ids::uuid[]) as p (job_id)
cross join lateral (
    select
        count(*) as samples,
        percentile_cont(0.95) within group (order by n.finished_at - n.started_at) as typical
    from (
        select
            r.state,
            r.started_at,
            r.finished_at
        from rota.runs as r
        where
            r.job_id = p.job_id
            and r.trigger <> 'graph'
        order by r.id desc
        limit :most::integer
    ) as n
    where
        n.state = 'succeeded'
        and n.started_at is not null
) as measured;
