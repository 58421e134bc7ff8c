-- A hook by its id, whosever it is: who calls it has no key of ours. Its former secret only while
-- that is good.
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
