-- The unfinished backfill of a job, if any.
select b.id
from rota.backfills as b
where
    b.job_id = :job_id::uuid
    and b.tenant_id = :tenant_id::integer
    and b.state in ('running', 'paused', 'cancelling');
