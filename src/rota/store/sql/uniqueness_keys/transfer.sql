-- Assign a key to a new holder, because the previous one no longer holds it. The caller has locked
-- the row.
update rota.unique_keys as u
set
    job_id = :job_id::uuid,
    run_id = :run_id::uuid,
    taken_at = clock.now,
    held_until = clock.now + :hold::interval
from (select rota.now() as now) as clock
where
    u.tenant_id = :tenant_id::integer
    and u.digest = :digest::bytea
returning u.job_id;
