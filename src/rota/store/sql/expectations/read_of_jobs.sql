-- The expectations in the definitions of jobs; jobs without any are left out.
select
    j.id,
    j.tenant_id,
    j.name,
    j.expect,
    j.alert
from rota.jobs as j
where
    j.id = any(:ids::uuid[])
    and j.expect is not null
order by j.id;
