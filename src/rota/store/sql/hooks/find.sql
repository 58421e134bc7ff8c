-- A hook by its id, of any tenant: its caller has no API key. Its previous secret only while that
-- is valid.
select
    h.id,
    h.tenant_id,
    h.name,
    h.type,
    h.style,
    h.version,
    h.key_id,
    h.ciphertext,
    case when h.former_until > rota.now() then h.former end as former
from rota.hooks as h
where h.id = :id::uuid;
