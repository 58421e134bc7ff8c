-- The unfinished runs of a job. In two parts, because that is how they are indexed.
select
    l.id,
    l.state,
    l.attempt
from rota.live_runs as l
where
    l.job_id = :id::uuid
    and l.state in ('blocked', 'queued', 'retrying')
union all
select
    l.id,
    l.state,
    l.attempt
from rota.live_runs as l
where
    l.job_id = :id::uuid
    and l.state in ('running', 'cancelling');
