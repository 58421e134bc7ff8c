-- What a job keeps through a pause, and the time zone rules that ticks were computed with
-- (docs/adr/0032-time-rules.md).

-- The schedules that a paused job had before edits in the pause, and how far each was decided:
-- decided together when the job is resumed. Null for nearly all.
alter table rota.jobs add column paused_stretches jsonb;

-- One row: the tzdata version that the ticks to come were computed with. While another version is
-- being applied, `target` is that one and `position` the last cursor that was looked at.
create table rota.tzdata (
    only_row boolean primary key default true check (only_row),
    version text check (length(version) between 1 and 32),
    target text check (length(target) between 1 and 32),
    position uuid,
    looked_at bigint not null default 0,
    moved bigint not null default 0,
    -- Ticks that processes with older rules have computed since are looked at once they are gone.
    older_seen_at timestamptz
);

insert into rota.tzdata (version) values (null);

-- The rules of that version: TZif, as in the wheel; and those of the version before, where they
-- were others.
create table rota.zone_rules (
    zone text primary key check (length(zone) between 1 and 64),
    rules bytea not null,
    previous bytea
);
