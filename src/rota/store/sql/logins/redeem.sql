-- Redeem a ticket and return its owner. The row is deleted: of two concurrent callers, one gets it.
with taken as (
    delete from rota.logins as l
    where
        l.digest = :digest::bytea
        and l.is_ticket
        and l.expires_at > rota.now()
    returning l.key_id
)

select
    k.id as key_id,
    k.tenant_id,
    t.name as tenant,
    k.role,
    k.name,
    k.user_id,
    k.expires_at
from taken as l
inner join rota.api_keys as k on l.key_id = k.id
inner join rota.tenants as t on k.tenant_id = t.id
where
    k.revoked_at is null
    and (k.expires_at is null or k.expires_at > rota.now());
