-- Lock due batches, oldest first, skipping those that another transaction has locked.
select
    p.job_id,
    p.key,
    p.tenant_id,
    p.run_id,
    p.opened_at,
    p.due_at,
    p.count as number,
    p.size,
    p.filled
from rota.event_piles as p
where p.due_at <= (select rota.now())
order by p.due_at
limit :most::integer
for update skip locked;
