-- The incidents about runs of a kind, and when the run ended that each is about.
select
    i.id,
    r.finished_at
from rota.incidents as i
inner join rota.runs as r on i.run_id = r.id
where
    r.kind_id = :kind_id::integer
    and r.finished_at >= :since::timestamptz;
