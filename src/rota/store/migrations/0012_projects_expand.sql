-- The jobs that a file declares (jobs as code), found by the label of their project among however
-- many a tenant has. Partial: a job without the label, and nearly all are, costs nothing.
create index jobs_of_project on rota.jobs (tenant_id, id)
where labels ? 'rota.project' and state <> 'deleted';
