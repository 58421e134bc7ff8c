-- Ping URLs: checks of work that Rota does not run, in the form of healthchecks.io
-- (docs/adr/0061-pings-and-heartbeat.md). A request to the URL says that the work began, succeeded
-- or failed.
create table rota.pings (
    id uuid primary key,
    tenant_id integer not null references rota.tenants (id) on delete cascade,
    name text not null check (length(name) between 1 and 200),
    digest bytea not null unique check (length(digest) = 32),
    handle text not null check (length(handle) = 8),
    schedule jsonb not null,
    grace interval not null,
    policy jsonb not null default '{}',
    version integer not null default 1,
    created_at timestamptz not null default rota.now(),
    pinged_at timestamptz,
    succeeded_at timestamptz,
    failed_at timestamptz,
    began_at timestamptz,
    overdue_at timestamptz,
    check_at timestamptz,
    is_down boolean not null default false,
    unique (tenant_id, name)
) with (fillfactor = 70);

create index pings_due on rota.pings (check_at) where check_at is not null;

comment on table rota.pings is
'Ping URLs: work outside of Rota reports to them when it begins, succeeds or fails.';
comment on column rota.pings.digest is 'SHA-256 of the token in the URL.';
comment on column rota.pings.handle is
'The first characters of the token, shown in lists so that people can tell URLs apart.';
comment on column rota.pings.schedule is 'When a success is expected: a schedule document.';
comment on column rota.pings.grace is
'How long a success may be late, and how long the work may take once it has begun.';
comment on column rota.pings.policy is 'How incidents of the ping are reported.';
comment on column rota.pings.began_at is 'Start of the work that has not ended yet.';
comment on column rota.pings.overdue_at is 'When a missing success becomes an incident.';
comment on column rota.pings.check_at is 'When a scheduler looks at the ping. Null: no need.';
comment on column rota.pings.is_down is 'Whether the last check found a violation.';

create table rota.ping_runs (
    ping_id uuid not null references rota.pings (id) on delete cascade,
    rid text not null check (length(rid) <= 64),
    tenant_id integer not null,
    run_id uuid not null,
    session_id uuid not null,
    began_at timestamptz not null,
    primary key (ping_id, rid)
);
comment on table rota.ping_runs is
'External runs of pings that have begun and not ended yet, by the run id that the sender chose.';
comment on column rota.ping_runs.rid is 'The `rid` of the request; empty without one.';

insert into rota.role_grants (relation, service, worker) values
('pings', 'all', ''),
('ping_runs', 'all', '');

select rota.raise_wall();
select rota.grant_roles();
