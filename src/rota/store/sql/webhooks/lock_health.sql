-- The health of an endpoint, locked until the end of the transaction.
select
    e.failures,
    e.failing_since,
    e.probe_at,
    e.concurrency,
    e.last_success_at,
    e.disabled_reason,
    rota.now() as now
from rota.webhook_endpoints as e
where e.id = :id::uuid
for no key update;
