-- rota: outside-transaction
-- Jobs with expectations of their own, and those that say where they report to.
create index concurrently if not exists jobs_expecting
on rota.jobs (tenant_id, id)
where (expect is not null or alert is not null) and state <> 'deleted';
