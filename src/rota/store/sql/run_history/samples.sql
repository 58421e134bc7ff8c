-- The newest finished runs of a job, newest first: what a prediction is made of. Ticks that did not
-- run say nothing about a duration. Backfills, replays and runs started by hand do not count.
select
    r.scheduled_at,
    r.due_at,
    r.started_at,
    r.finished_at,
    r.state
from rota.runs as r
where
    r.tenant_id = :tenant_id::integer
    and r.job_id = :job_id::uuid
    and r.trigger <> 'graph'
    and r.trigger not in ('backfill', 'replay', 'manual')
    and r.state in ('succeeded', 'dead', 'lost', 'expired')
    and r.started_at is not null
order by r.id desc
limit :most::integer;
