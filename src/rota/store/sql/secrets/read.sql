-- Encrypted secrets, for a worker that is about to decrypt them.
select
    s.name,
    s.version,
    s.key_id,
    s.ciphertext
from rota.secrets as s
where
    s.tenant_id = :tenant_id::integer
    and s.name = any(:names::text[]);
