-- The newest runs of each job that ended, newest first, without backfills, replays and runs that
-- people started. Reads a limited number of rows by the index by job. `ticks` is how many ticks a
-- row stands for.
select
    p.job_id,
    u.id as run_id,
    u.state,
    u.started_at,
    u.finished_at,
    u.ticks,
    u.reason
from unnest(:job_ids::uuid[]) as p (job_id)
cross join
    lateral (
        select
            n.id,
            n.state,
            n.started_at,
            n.finished_at,
            n.reason,
            case
                when n.state = 'missed' then coalesce((n.reason ->> 'count')::integer, 1)
                else 1
            end as ticks
        from (
            select
                r.id,
                r.state,
                r.trigger,
                r.started_at,
                r.finished_at,
                r.reason
            from rota.runs as r
            where
                r.job_id = p.job_id
                and r.trigger <> 'graph'
            order by r.id desc
            limit :look::integer
        ) as n
        where
            n.trigger in ('tick', 'event', 'api')
            and n.state not in ('skipped', 'coalesced', 'cancelled')
        order by n.id desc
        limit :most::integer
    ) as u
order by p.job_id asc, u.id desc;
