-- How often `version` rose although the definition stayed the same: for a pause, a calendar, a run
-- that somebody started. People see the difference of the two, which counts edits only
-- (docs/adr/0042-figures.md).
alter table rota.jobs add column version_skips integer not null default 0;
