-- The small tables that everything else points to: the clock, tenants, queues, kinds, policies.
--
-- The hot tables carry integers, not names: a claim compares four bytes, and an index entry of the
-- waiting runs stays narrow. Names are interned once, when a job is written.

-- The database's clock is the authority for due times and leases. Statements ask this function,
-- so that a test can move the clock of a session; PostgreSQL inlines it, so indexes work as before.
-- statement_timestamp, not now: the second statement of a transaction must not live in the past.
create function rota.now() returns timestamptz
language sql stable parallel safe
as $$
    select coalesce(
        nullif(current_setting('rota.now', true), '')::timestamptz, statement_timestamp()
    )
$$;

create table rota.tenants (
    id integer generated always as identity primary key,
    name text not null unique check (length(name) between 1 and 200),
    -- Turns a tenant gets for one turn of a tenant of weight 1.
    weight smallint not null default 1 check (weight between 1 and 1000),
    quotas jsonb not null default '{}',
    paused_at timestamptz,
    created_at timestamptz not null default rota.now()
);

create table rota.queues (
    id integer generated always as identity primary key,
    name text not null unique check (length(name) between 1 and 200),
    paused_at timestamptz,
    created_at timestamptz not null default rota.now()
);

create table rota.kinds (
    id integer generated always as identity primary key,
    name text not null unique check (length(name) between 1 and 200),
    created_at timestamptz not null default rota.now()
);

-- How a run is carried out (retries, timeout, guarantee …), shared by all jobs that say the same.
-- A row never changes: a run keeps the policy it was made with, whatever becomes of its job.
create table rota.policies (
    id integer generated always as identity primary key,
    digest bytea not null unique check (length(digest) = 16),
    body jsonb not null,
    created_at timestamptz not null default rota.now()
);

-- When a job is due, shared like policies: a scheduler parses each rule once.
create table rota.schedules (
    id integer generated always as identity primary key,
    digest bytea not null unique check (length(digest) = 16),
    body jsonb not null,
    created_at timestamptz not null default rota.now()
);

insert into rota.tenants (name) values ('default');
insert into rota.queues (name) values ('default');
