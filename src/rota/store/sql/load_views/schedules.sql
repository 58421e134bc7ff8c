-- The schedules of a tenant's jobs that have ticks to come, with what identifies their ticks. From
-- the cursors, not from the jobs: a tenant may have millions of jobs that ran once and are over.
select
    c.job_id,
    j.name as job,
    j.schedule,
    c.fired
from rota.cursors as c
inner join rota.jobs as j on c.job_id = j.id
where
    c.tenant_id = :tenant_id::integer
    and c.fire_at is not null
    and j.schedule is not null
limit :most::integer;
