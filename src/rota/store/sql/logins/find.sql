-- The owner of a login, if it and its key are valid now and it was used recently.
select
    k.id as key_id,
    k.tenant_id,
    t.name as tenant,
    k.role,
    k.name,
    k.user_id,
    l.expires_at
from rota.logins as l
inner join rota.api_keys as k on l.key_id = k.id
inner join rota.tenants as t on k.tenant_id = t.id
where
    l.digest = :digest::bytea
    and not l.is_ticket
    and l.expires_at > rota.now()
    and coalesce(l.used_at, l.created_at) > rota.now() - :idle::interval
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > rota.now());
