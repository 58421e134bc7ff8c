-- Open incidents about jobs that are paused, deleted or no longer exist, and who
-- paused or deleted them.
select
    i.id,
    coalesce(j.state::text, 'deleted') as job_state,
    (
        select a.actor from rota.audit as a
        where
            a.tenant_id = i.tenant_id
            and a.thing = 'job'
            and a.thing_id = 'job_' || replace(i.job_id::text, '-', '')
            and a.action in ('job.pause', 'job.delete')
            and a.at >= i.opened_at - interval '1 day'
        order by a.id desc
        limit 1
    ) as actor
from rota.incidents as i
left join rota.jobs as j on i.job_id = j.id
where
    i.state <> 'resolved'
    and i.job_id is not null
    and (
        j.state in ('paused', 'deleted')
        or (j.id is null and i.subject_kind in ('job', 'step'))
    )
order by i.opened_at
limit :most::integer;
