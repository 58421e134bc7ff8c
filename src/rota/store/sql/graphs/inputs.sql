-- What graph runs that are alive were given, and what their steps may know of them.
select
    l.id,
    l.scheduled_at,
    l.attempt,
    coalesce(l.payload, j.payload) as payload
from unnest(:ids::uuid[]) as i (id)
inner join rota.live_runs as l on i.id = l.id
left join rota.jobs as j on l.job_id = j.id;
