-- The runs that ended after a time, oldest first, with the names of their jobs.
select
    j.name,
    r.state,
    r.attempt,
    r.started_at,
    r.finished_at,
    r.reason
from rota.runs as r
left join rota.jobs as j on r.job_id = j.id
where
    r.id >= :from_id::uuid
    and r.finished_at > :since::timestamptz
order by r.finished_at
limit :most::integer;
