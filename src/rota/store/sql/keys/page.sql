-- The keys of a tenant in the order of their creation, without their digests.
select
    k.id,
    k.tenant_id,
    k.name,
    k.handle,
    k.role,
    k.user_id,
    k.created_at,
    k.expires_at,
    k.revoked_at,
    k.used_at
from rota.api_keys as k
where
    k.tenant_id = :tenant_id::integer
    and k.id > :after::uuid
order by k.id
limit :most::integer;
