-- Who holds a uniqueness key, which dead letters were dropped, and what a run is a replay of.

-- One row for each key that somebody handed in, and never two: whoever wants the key locks its row,
-- so that of many who ask at once one makes a run and the others find it (E16). The row says who
-- took the key last; whether that one still holds it, its run says. By a hash, because a key may be
-- long and only its equality matters.
create table rota.unique_keys (
    tenant_id integer not null,
    digest bytea not null check (length(digest) = 16),
    job_id uuid not null,
    -- Null while the holder is a job that has no run of its own yet.
    run_id uuid,
    taken_at timestamptz not null,
    -- Until then the key is held whatever became of the run.
    held_until timestamptz not null,
    primary key (tenant_id, digest)
) with (fillfactor = 85);

create index unique_keys_age on rota.unique_keys (held_until);

-- A dead letter that was dropped stays in history, with the state it came to; it is only no longer
-- listed among those that somebody must look at. A column and not a table: it goes with the
-- partition, and coming back to life forgets it.
alter table rota.runs add column dropped_at timestamptz;

-- A run that was made from another, finished one. By hand, so there are few.
create table rota.replays (
    run_id uuid primary key,
    replay_of uuid not null,
    tenant_id integer not null,
    asked_by text not null,
    asked_at timestamptz not null
);

create index replays_of on rota.replays (replay_of);

-- The wall between tenants, for the new tables too.
select rota.raise_wall();
