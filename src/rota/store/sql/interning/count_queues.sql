-- How many queue names the submissions of a tenant have created.
select count(*) as number
from rota.queues as k
where k.made_by = :tenant_id::integer;
