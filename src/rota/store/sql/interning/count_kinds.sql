-- How many kind names the submissions of a tenant have created.
select count(*) as number
from rota.kinds as k
where k.made_by = :tenant_id::integer;
