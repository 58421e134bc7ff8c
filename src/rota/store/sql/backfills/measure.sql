-- The mean duration of the last attempts of a job's newest runs; null if none has run.
select avg(newest.took) as took
from (
    select r.finished_at - r.started_at as took
    from rota.runs as r
    where
        r.tenant_id = :tenant_id::integer
        and r.job_id = :job_id::uuid
        and r.started_at is not null
        and r.trigger <> 'graph'
    order by r.id desc
    limit 100
) as newest;
