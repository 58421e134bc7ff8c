-- When a person last used a login. Logins of an earlier release have no time here; their use counts
-- from when they were made.
alter table rota.logins add column used_at timestamptz;
