-- Jobs: what to do and when; and their cursors: where each stands in its schedule.
--
-- Two tables, because a fire must not rewrite the definition: jobs is wide and changes when
-- somebody edits it, cursors is narrow and changes with every tick (docs/adr/0007-cursors.md).

create type rota.job_state as enum ('active', 'paused', 'quarantined', 'finished', 'deleted');

create type rota.overlap as enum (
    'skip', 'queue_one', 'queue_all', 'cancel_running', 'terminate_running', 'allow'
);

create type rota.guarantee as enum ('at_least_once', 'at_most_once', 'exactly_once');

create table rota.jobs (
    id uuid primary key,
    -- No foreign keys to tenants, kinds …: every insert would lock the same few rows (F44).
    tenant_id integer not null,
    name text not null check (length(name) between 1 and 200),
    state rota.job_state not null default 'active',
    -- Rises with every edit; a fire that read an older version changes nothing.
    version integer not null default 1 check (version > 0),
    kind_id integer not null,
    queue_id integer not null,
    policy_id integer not null,
    priority smallint not null default 5 check (priority between 0 and 9),
    overlap rota.overlap not null default 'skip',
    guarantee rota.guarantee not null default 'at_least_once',
    schedule jsonb,
    payload jsonb,
    labels jsonb not null default '{}',
    user_id text,
    -- Why it is paused or quarantined: {by, at, reason, until}.
    held jsonb,
    created_at timestamptz not null default rota.now(),
    updated_at timestamptz not null default rota.now()
);

create unique index jobs_name on rota.jobs (tenant_id, name) where state <> 'deleted';
create index jobs_listing on rota.jobs (tenant_id, created_at, id);

-- One row per job that has ticks to come. fillfactor: the new version of a row finds room near
-- the old one more often, and fewer pages are written whole after a checkpoint.
create table rota.cursors (
    job_id uuid primary key,
    -- The nominal time that is decided next, which is the identity of its run. What was missed
    -- in an outage lies between it and now …
    tick_at timestamptz not null,
    -- … and the instant to decide it, after jitter or a deferring calendar. Null while held.
    fire_at timestamptz,
    version integer not null,
    -- Ticks fired so far, counted only for a job that has a cap on them.
    fired integer,
    tenant_id integer not null,
    queue_id integer not null,
    kind_id integer not null,
    policy_id integer not null,
    -- Null for a job that fires once: its tick_at says everything.
    schedule_id integer,
    overlap rota.overlap not null,
    shard smallint not null check (shard between 0 and 127),
    priority smallint not null,
    guarantee rota.guarantee not null
) with (
    fillfactor = 85,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000
);

create index cursors_due on rota.cursors (shard, fire_at) where fire_at is not null;
