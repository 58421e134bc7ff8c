-- How many runs of each job ended within a window, and how many of them failed: among a limited
-- number of its newest runs.
select
    p.job_id,
    counted.ended,
    counted.failed
from
    unnest(:job_ids::uuid[], :sinces::timestamptz[], :from_ids::uuid[])
        as p (job_id, since, from_id)
cross join lateral (
    select
        count(*) as ended,
        count(*) filter (where n.state <> 'succeeded') as failed
    from (
        select
            r.state,
            r.trigger,
            r.finished_at
        from rota.runs as r
        where
            r.job_id = p.job_id
            and r.trigger <> 'graph'
            and r.id >= p.from_id
        order by r.id desc
        limit :most::integer
    ) as n
    where
        n.finished_at >= p.since
        and n.trigger in ('tick', 'event', 'api')
        and n.state in ('succeeded', 'dead', 'lost', 'quarantined', 'expired')
) as counted;
