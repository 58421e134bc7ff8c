-- Look for that row.
select i.tenant_id
from rota.idempotency as i
where
    i.scope = 'wall'
    and i.key = 'probe';
