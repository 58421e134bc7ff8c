-- The version that a secret has now, and nobody else changes it until the end of the transaction.
select s.version
from rota.secrets as s
where
    s.tenant_id = :tenant_id::integer
    and s.name = :name::text
for update;
