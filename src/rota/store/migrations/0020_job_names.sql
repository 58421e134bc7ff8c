-- The index of names says which states it holds, not which it does not. Where all jobs are in one
-- state, the planner behind the wall takes `<> 'deleted'` for no row at all: the index looked empty
-- to it, so it read all names of a tenant to find a job by its id.
drop index rota.jobs_name;
create unique index jobs_name on rota.jobs (tenant_id, name)
where state in ('active', 'paused', 'quarantined', 'finished');
