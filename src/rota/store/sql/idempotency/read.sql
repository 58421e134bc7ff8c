-- The response to the first request with this key.
select
    i.fingerprint,
    i.status,
    i.body
from rota.idempotency as i
where
    i.tenant_id = :tenant_id::integer
    and i.scope = :scope::text
    and i.key = :key::text;
