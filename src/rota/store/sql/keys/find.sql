-- The owner of a key, if it is valid now. Without a tenant: this is how the tenant is found.
select
    k.id as key_id,
    k.tenant_id,
    t.name as tenant,
    k.role,
    k.name,
    k.user_id,
    k.expires_at
from rota.api_keys as k
inner join rota.tenants as t on k.tenant_id = t.id
where
    k.digest = :digest::bytea
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > rota.now());
