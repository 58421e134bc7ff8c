-- The jobs that carry the label of a project. The first condition on the labels is identical to
-- that of the index; under row-level security the second one cannot be an index condition.
select j.id
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.labels ? 'rota.project'
    and j.state <> 'deleted'
    and j.labels ->> 'rota.project' = :project::text
order by j.id;
