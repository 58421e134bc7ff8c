-- Lock an endpoint of a tenant until the end of the transaction, so that no delivery is claimed.
select
    e.id,
    e.state,
    e.version,
    e.secret_version
from rota.webhook_endpoints as e
where
    e.id = :id::uuid
    and e.tenant_id = :tenant_id::integer
for no key update;
