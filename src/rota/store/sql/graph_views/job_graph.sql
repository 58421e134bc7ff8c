-- The graph of a job of the tenant.
select g.definition
from rota.jobs as j
inner join rota.graphs as g on j.graph_id = g.id
where
    j.id = :job_id::uuid
    and j.tenant_id = :tenant_id::integer
    and j.state <> 'deleted';
