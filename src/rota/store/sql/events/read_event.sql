-- One event of a tenant.
select
    e.id,
    e.type,
    e.source,
    e.received_at,
    e.body,
    e.matches
from rota.events as e
where
    e.id = :id::uuid
    and e.tenant_id = :tenant_id::integer;
