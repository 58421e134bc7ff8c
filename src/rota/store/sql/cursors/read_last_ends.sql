-- Whether each job has an unfinished run, and when its newest finished one ended: the base of a
-- fixed delay. Read when a tick is due, so that finishing a run costs nothing for it.
select
    j.id as job_id,
    -- Not `exists`: the planner could answer it by reading all waiting runs.
    coalesce((
        select true from rota.live_runs as l
        where
            l.job_id = j.id
            and l.state in ('blocked', 'queued', 'retrying')
            and l.trigger <> 'graph'
        limit 1
    ), false)
    or j.id in (
        select l.job_id from rota.live_runs as l
        where
            l.state in ('running', 'cancelling')
            and l.trigger <> 'graph'
    ) as is_alive,
    (
        select r.finished_at from rota.runs as r
        where
            r.job_id = j.id
            and r.trigger <> 'graph'
        order by r.id desc
        limit 1
    ) as ended_at
from unnest(:job_ids::uuid[]) as j (id);
