-- rota: outside-transaction
-- The unfinished submissions of a user. Runs without a user have no entry.
create index concurrently if not exists live_runs_user
on rota.live_runs (tenant_id, user_id, id)
where user_id is not null;
