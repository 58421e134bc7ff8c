-- Take a key, or find its holder: either way its row is locked until the transaction ends, so
-- concurrent callers wait and then see the result. Nothing is overwritten: the returned row names
-- the holder, who is the caller if the key was new.
insert into rota.unique_keys as u (tenant_id, digest, job_id, run_id, taken_at, held_until)
select
    :tenant_id::integer,
    :digest::bytea,
    :job_id::uuid,
    :run_id::uuid,
    clock.now,
    clock.now + :hold::interval
from (select rota.now() as now) as clock
on conflict (tenant_id, digest) do update
    set taken_at = u.taken_at
returning u.job_id, u.run_id, u.held_until > rota.now() as is_held;
