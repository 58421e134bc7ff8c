-- rota: outside-transaction
-- Finds runs by the time they ended. Runs lie by the time in their ids, and nearly all end within
-- an hour of it; these have no entry here and cost nothing. The few that do not (backfills,
-- replays, long runs, ticks decided after an outage) are found by this index
-- (docs/adr/0042-figures.md). Days that are made from now on have it. Days that exist do without
-- until they are dropped.
create index if not exists runs_ended_late on only rota.runs (tenant_id, finished_at)
where finished_at - least(scheduled_at, created_at) > interval '1 hour';

create index concurrently if not exists runs_rest_ended_late
on rota.runs_rest (tenant_id, finished_at)
where finished_at - least(scheduled_at, created_at) > interval '1 hour';

alter index rota.runs_ended_late attach partition rota.runs_rest_ended_late;
