-- The jobs that carry the label of a project. The first condition on the labels is word for word
-- that of the index; behind the wall between tenants the second one cannot be a condition of any.
select j.id
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.labels ? 'rota.project'
    and j.state <> 'deleted'
    and j.labels ->> 'rota.project' = :project::text
order by j.id;
