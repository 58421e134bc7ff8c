-- The backfill whose last pass is the longest ago, locked until the end of the transaction; one
-- that another node has locked is skipped.
select
    b.id,
    b.tenant_id,
    b.job_id,
    b.state,
    b.since,
    b.until,
    b.schedule,
    b.picks,
    b.newest_first,
    b.at_once,
    b.priority,
    b.payload,
    b.gate_id,
    b.reached,
    rota.now() as now
from rota.backfills as b
where
    b.state in ('running', 'paused', 'cancelling')
    and b.look_at <= (select rota.now())
order by b.look_at
limit 1
for no key update skip locked;
