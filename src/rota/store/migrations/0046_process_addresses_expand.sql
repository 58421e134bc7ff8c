-- Where the observability listener of each process answers, and which version the process runs
-- (docs/adr/0052-observability-listener.md). Null: a process of an earlier release, or one whose
-- listener is off.
alter table rota.sessions add column observe_url text;
alter table rota.sessions add column version text;

comment on column rota.sessions.observe_url is
'URL of the observability listener. Null: the listener is off.';
comment on column rota.sessions.version is
'Version of Rota that the process runs. Null: an earlier release that stored none.';
