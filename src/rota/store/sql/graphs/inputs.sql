-- What graph runs that are alive were given, and what their steps may know of them. Where the
-- definition that they were made of is not known any more, that of now counts.
select
    l.id,
    l.scheduled_at,
    l.attempt,
    coalesce(l.payload, case when u.number is null then j.payload else u.payload end) as payload
from unnest(:ids::uuid[]) as i (id)
inner join rota.live_runs as l on i.id = l.id
left join rota.jobs as j on l.job_id = j.id
left join lateral rota.definition_used(l.job_id, l.job_version) as u on true;
