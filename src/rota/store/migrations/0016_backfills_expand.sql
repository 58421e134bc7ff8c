-- Backfills: runs for a long stretch of past ticks, made little by little
-- (docs/adr/0022-backfills.md).

create type rota.backfill_state as enum (
    'running', 'paused', 'cancelling', 'finished', 'cancelled'
);

create table rota.backfills (
    id uuid primary key,
    tenant_id integer not null,
    job_id uuid not null,
    state rota.backfill_state not null default 'running',
    -- The ticks with since <= tick < until, of the schedule that the job had when it was asked for.
    since timestamptz not null,
    until timestamptz not null check (until >= since),
    schedule jsonb not null,
    picks text not null check (picks in ('missing', 'failed', 'all')),
    newest_first boolean not null,
    at_once integer not null check (at_once between 1 and 1000),
    priority smallint not null check (priority between 0 and 9),
    -- Null means the payload of the job.
    payload jsonb,
    -- All its runs pass this gate first: it bounds how many run, and is shut while it is paused.
    gate_id integer not null,
    -- How far it has come. Oldest first, the ticks before this time are decided; newest first,
    -- those from it on.
    reached timestamptz not null,
    -- Ticks that were looked at, runs that were made for them, and how those ended.
    ticks bigint not null default 0,
    made bigint not null default 0,
    succeeded bigint not null default 0,
    failed bigint not null default 0,
    cancelled bigint not null default 0,
    -- How many runs it was thought to make, and whether somebody counted or guessed.
    expected bigint not null,
    is_guess boolean not null,
    look_at timestamptz not null,
    paused_at timestamptz,
    paused_for interval not null default '0',
    created_at timestamptz not null,
    created_by text not null,
    ended_at timestamptz,
    reason jsonb,
    constraint backfills_ended
    check ((ended_at is not null) = (state in ('finished', 'cancelled'))),
    constraint backfills_paused check (state <> 'paused' or paused_at is not null)
) with (fillfactor = 50);

-- One at a time for each job: two that go over the same ticks would each find them missing.
create unique index backfills_unfinished on rota.backfills (job_id)
where state in ('running', 'paused', 'cancelling');

create index backfills_look on rota.backfills (look_at)
where state in ('running', 'paused', 'cancelling');

-- Which backfill a run belongs to, by its first gate.
create unique index backfills_gate on rota.backfills (gate_id);
create index backfills_page on rota.backfills (tenant_id, id);
create index backfills_old on rota.backfills (ended_at) where ended_at is not null;

-- The runs of a backfill that were not seen to end yet: a window of bounded size. So the way of a
-- run knows nothing of backfills; whoever looks at one asks what became of these. No foreign key:
-- whoever adds rows holds the backfill, and the check would cost half as much as making the runs.
create table rota.backfill_runs (
    backfill_id uuid not null,
    run_id uuid not null,
    tenant_id integer not null,
    primary key (backfill_id, run_id)
) with (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000
);

-- The wall between tenants, for the new tables too.
select rota.raise_wall();
