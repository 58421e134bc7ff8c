-- How many silences of a tenant have not ended.
select count(*) as number
from rota.silences as s
where
    s.tenant_id = :tenant_id::integer
    and s.ends_at > :now::timestamptz;
