-- The unfinished runs of a job, those of a backfill only on request. In two parts, like the
-- indexes.
select
    l.id,
    l.state,
    l.attempt
from rota.live_runs as l
where
    l.job_id = :id::uuid
    and l.state in ('blocked', 'queued', 'retrying')
    and l.trigger <> 'graph'
    and (:backfills::boolean or l.trigger <> 'backfill')
union all
select
    l.id,
    l.state,
    l.attempt
from rota.live_runs as l
where
    l.job_id = :id::uuid
    and l.state in ('running', 'cancelling')
    and l.trigger <> 'graph'
    and (:backfills::boolean or l.trigger <> 'backfill');
