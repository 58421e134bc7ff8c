-- Store the responses to several requests, for repetitions.
update rota.idempotency as i
set
    status = n.status,
    body = n.body
from
    unnest(
        :tenant_ids::integer[],
        :scopes::text[],
        :keys::text[],
        :statuses::smallint[],
        :bodies::bytea[]
    ) as n (tenant_id, scope, key, status, body)
where
    i.tenant_id = n.tenant_id
    and i.scope = n.scope
    and i.key = n.key
    and i.status is null
returning i.status;
