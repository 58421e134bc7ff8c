-- What lists need beyond the tables. Nothing here is on the way of a run.

-- The jobs of one user among all of a tenant, in the order of the list. Jobs without a user, which
-- are most, have no entry; no index of ours on jobs holds the user otherwise.
create index jobs_of_user on rota.jobs (tenant_id, user_id, created_at, id)
where user_id is not null;

-- Dead letters in the order of their list, whatever their state. Behind the wall between tenants a
-- condition on an enum cannot bound a walk, so with the state before the id a walk for one state
-- would go on through the others. As before, it costs runs that end well nothing.
drop index rota.runs_bad;
create index runs_bad on rota.runs (tenant_id, id)
where state in ('dead', 'lost', 'quarantined');
