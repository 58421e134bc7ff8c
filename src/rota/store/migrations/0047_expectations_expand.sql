-- What is expected of jobs, and where incidents are reported
-- (docs/adr/0054-expectations.md).
alter table rota.jobs add column expect jsonb;
alter table rota.jobs add column alert jsonb;
comment on column rota.jobs.expect is
'Conditions that the runs of the job must meet, as a document of contract/expectations.py.';
comment on column rota.jobs.alert is
'How violations of `expect` are reported: route, severity, how long a violation must last.';

create table rota.expectations (
    id uuid primary key,
    tenant_id integer not null,
    name text not null check (length(name) between 1 and 200),
    selector jsonb not null,
    condition jsonb not null,
    policy jsonb not null,
    is_enabled boolean not null default true,
    version integer not null default 1,
    project text,
    created_at timestamptz not null default rota.now(),
    updated_at timestamptz not null default rota.now(),
    unique (tenant_id, name)
);
comment on table rota.expectations is
'Rules: one condition for all jobs, steps, tasks or queues of a tenant that a selector matches.';
comment on column rota.expectations.selector is
'Which subjects the rule applies to: patterns of job, step, task and queue, and labels.';
comment on column rota.expectations.condition is 'The condition, an object with one field.';
comment on column rota.expectations.policy is
'How violations are reported: to, severity, for, clear, recovery.';
comment on column rota.expectations.version is
'Rises with every edit; an edit that names an older one is refused.';
comment on column rota.expectations.project is
'The project whose rota.yaml declares the rule; null if the API created it.';

create table rota.alert_routes (
    tenant_id integer not null,
    name text not null check (length(name) between 1 and 200),
    steps jsonb not null,
    version integer not null default 1,
    project text,
    created_at timestamptz not null default rota.now(),
    updated_at timestamptz not null default rota.now(),
    primary key (tenant_id, name)
);
comment on table rota.alert_routes is
'Routes: which channels get the messages of an incident, and after which time.';
comment on column rota.alert_routes.steps is
'The steps in order: channels, delay, repetition, least severity.';
comment on column rota.alert_routes.project is
'The project whose rota.yaml declares the route; null if the API created it.';

insert into rota.role_grants (relation, service, worker) values
('expectations', 'all', ''),
('alert_routes', 'all', '');

select rota.raise_wall();
select rota.grant_roles();
