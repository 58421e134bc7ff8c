-- Lock the batches of these jobs and keys, and create missing ones; a count of 0 means new. Sorted,
-- so that two transactions with the same batches do not deadlock.
insert into rota.event_piles as p (
    job_id, key, tenant_id, run_id, opened_at, due_at, count, size, filled
)
select
    n.job_id,
    n.key,
    :tenant_id::integer,
    n.job_id as run_id,
    rota.now(),
    'infinity',
    0,
    0,
    0
from unnest(:job_ids::uuid[], :keys::text[]) as n (job_id, key)
order by n.job_id, n.key
on conflict (job_id, key) do update
    set count = p.count
returning
    p.job_id, p.key, p.run_id, p.opened_at, p.due_at, p.count as number, p.size, p.filled;
