-- One backfill of a tenant, locked until the end of the transaction.
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
    b.id = :id::uuid
    and b.tenant_id = :tenant_id::integer
for no key update;
