-- The processes of the cluster: shards, sessions, slots of limits.

create table rota.shards (
    id smallint primary key check (id between 0 and 127),
    -- The start of a scheduler process (its session), never a host name.
    owner uuid,
    -- Rises when the owner changes; a fire with an older one changes nothing.
    epoch bigint not null default 0,
    expires_at timestamptz not null default '-infinity'
) with (fillfactor = 50);

insert into rota.shards (id)
select shard from generate_series(0, 127) as shard;

create type rota.session_role as enum ('worker', 'scheduler', 'api');

create table rota.sessions (
    id uuid primary key,
    role rota.session_role not null,
    name text not null check (length(name) between 1 and 200),
    queues integer[] not null default '{}',
    kinds integer[] not null default '{}',
    slots integer not null default 0 check (slots >= 0),
    -- The runs that the process really executes, as of its last beat.
    running uuid[] not null default '{}',
    draining boolean not null default false,
    started_at timestamptz not null default rota.now(),
    beat_at timestamptz not null default rota.now(),
    expires_at timestamptz not null
) with (fillfactor = 50);

-- A limit is rows, not a counter: whoever holds a slot is named in it, so it cannot leak.
create table rota.slots (
    tenant_id integer not null,
    key text not null check (length(key) between 1 and 200),
    n smallint not null check (n >= 0),
    run_id uuid,
    attempt smallint,
    primary key (tenant_id, key, n),
    constraint slots_holder check ((run_id is null) = (attempt is null))
) with (fillfactor = 50);

create index slots_run on rota.slots (run_id) where run_id is not null;
