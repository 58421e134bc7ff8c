-- Take the unused keys of several requests. Sorted: two batches with the same keys wait for each
-- other at most once.
insert into rota.idempotency (tenant_id, scope, key, fingerprint, created_at)
select
    n.tenant_id,
    n.scope,
    n.key,
    n.fingerprint,
    rota.now()
from
    unnest(
        :tenant_ids::integer[],
        :scopes::text[],
        :keys::text[],
        :fingerprints::bytea[]
    ) as n (tenant_id, scope, key, fingerprint)
order by n.tenant_id, n.scope, n.key
on conflict (tenant_id, scope, key) do nothing
returning tenant_id, scope, key;
