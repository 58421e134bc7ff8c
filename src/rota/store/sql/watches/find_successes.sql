-- The newest tick of each job that succeeded, among the newest runs of the job from an id on. One
-- backward scan of the index by job, which stops at the first success.
select
    p.job_id,
    newest.id as run_id,
    newest.scheduled_at,
    newest.finished_at
from unnest(:job_ids::uuid[], :from_ids::uuid[]) as p (job_id, from_id)
cross join lateral (
    select
        u.id,
        u.scheduled_at,
        u.finished_at
    from (
        select
            r.id,
            r.scheduled_at,
            r.finished_at,
            r.state,
            r.trigger
        from rota.runs as r
        where
            r.job_id = p.job_id
            and r.trigger <> 'graph'
            and r.id >= p.from_id
        order by r.id desc
        limit :most::integer
    ) as u
    where
        u.state = 'succeeded'
        and u.trigger = 'tick'
    order by u.id desc
    limit 1
) as newest;
