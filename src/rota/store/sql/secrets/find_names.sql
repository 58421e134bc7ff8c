-- The names among these that a secret of the tenant has.
select
    s.name,
    s.version,
    s.updated_at
from rota.secrets as s
where
    s.tenant_id = :tenant_id::integer
    and s.name = any(:names::text[]);
