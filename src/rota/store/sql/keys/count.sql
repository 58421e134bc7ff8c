-- How many valid keys a tenant has.
select count(*) as number
from rota.api_keys as k
where
    k.tenant_id = :tenant_id::integer
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > rota.now());
