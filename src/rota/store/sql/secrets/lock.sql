-- The current version of a secret, locked until the end of the transaction.
select s.version
from rota.secrets as s
where
    s.tenant_id = :tenant_id::integer
    and s.name = :name::text
for update;
