-- The inputs of unfinished graph runs, and what their steps may use of them. If the definition that
-- they were created from is no longer known, the current one is used.
select
    l.id,
    l.scheduled_at,
    l.attempt,
    coalesce(l.payload, case when u.number is null then j.payload else u.payload end) as payload
from unnest(:ids::uuid[]) as i (id)
inner join rota.live_runs as l on i.id = l.id
left join rota.jobs as j on l.job_id = j.id
left join lateral rota.definition_used(l.job_id, l.job_version) as u on true;
