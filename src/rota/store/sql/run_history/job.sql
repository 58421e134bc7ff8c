-- The schedule and the expectations of a job, for predictions.
select
    j.id as job_id,
    j.schedule::text as schedule,
    j.expect::text as expect
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.id = :job_id::uuid
    and j.state <> 'deleted';
