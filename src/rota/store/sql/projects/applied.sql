-- The audit entry of the last time that the file of a project was applied.
select a.id
from rota.audit as a
where
    a.tenant_id = :tenant_id::integer
    and a.thing = 'manifest'
    and a.thing_id = :project::text
order by a.id desc
limit 1;
