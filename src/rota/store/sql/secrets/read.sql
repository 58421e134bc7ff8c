-- A sealed secret, for a worker that is about to open it.
select
    s.version,
    s.key_id,
    s.ciphertext
from rota.secrets as s
where
    s.tenant_id = :tenant_id::integer
    and s.name = :name::text;
