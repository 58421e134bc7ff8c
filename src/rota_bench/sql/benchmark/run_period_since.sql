-- How many runs of a kind that were due from a time on succeeded, from when to when.
select
    count(*) as finished,
    min(r.due_at) as first_due,
    min(r.started_at) as first_start,
    max(r.finished_at) as last_finish
from rota.runs as r
where
    r.kind_id = :kind_id::integer
    and r.state = 'succeeded'
    and r.due_at >= :since::timestamptz;
