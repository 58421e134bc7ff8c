-- What evaluations of expectations remember (docs/adr/0055-evaluation-of-expectations.md). A clock
-- condition has one row per job, which says when to check next. Every other condition has a row
-- only while its subject is not healthy. rota.alert_states has what follows from the findings.
create table rota.watches (
    expectation_id uuid not null,
    subject_key text not null check (length(subject_key) <= 600),
    tenant_id integer not null,
    job_id uuid,
    condition text not null check (length(condition) between 1 and 50),
    definition jsonb not null,
    state text not null default 'ok' check (state in ('ok', 'pending', 'firing', 'unknown')),
    since timestamptz not null,
    next_check_at timestamptz,
    tick_at timestamptz,
    due_at timestamptz,
    late_tick_at timestamptz,
    run_id uuid,
    streak integer not null default 0,
    met_in_row smallint not null default 0,
    watched_since timestamptz not null,
    job_version integer,
    evidence jsonb not null default '{}',
    primary key (expectation_id, subject_key)
) with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000
);
create index watches_due on rota.watches (next_check_at) where next_check_at is not null;
create index watches_job on rota.watches (job_id) where job_id is not null;
create index watches_unhealthy on rota.watches (tenant_id) where state <> 'ok';
comment on table rota.watches is
'What evaluations remember: the next check of each clock condition, and subjects that are not
healthy.';
comment on column rota.watches.subject_key is 'Kind and id of the subject: job:<hex id>.';
comment on column rota.watches.condition is 'Code of the condition, such as finish_by.';
comment on column rota.watches.definition is
'The expectation as of the last change of rule or job: name, condition, policy; and the name of the
subject.';
comment on column rota.watches.state is
'ok: met. pending: something is bad, not enough for a violation. firing: violated. unknown: lateness
cannot be judged, because the relay or the schedulers are behind.';
comment on column rota.watches.since is 'When the state began.';
comment on column rota.watches.next_check_at is
'When a scheduler checks; null: the watch rests, or waits for the end of a run.';
comment on column rota.watches.tick_at is 'The next tick to check.';
comment on column rota.watches.due_at is 'When the run of that tick is due, after jitter.';
comment on column rota.watches.late_tick_at is
'The last violated tick; its run may still start or succeed, which meets the expectation.';
comment on column rota.watches.run_id is 'The run that the last violation is about.';
comment on column rota.watches.streak is 'How many bad results there were in a row.';
comment on column rota.watches.met_in_row is
'How many times in a row the expectation was met since the last violation.';
comment on column rota.watches.watched_since is
'Since when the subject is watched without a pause.';
comment on column rota.watches.job_version is
'Version of the job for which tick and next check were computed.';
comment on column rota.watches.evidence is 'What else a condition needs, by condition.';

insert into rota.role_grants (relation, service, worker) values
('watches', 'all', '');

select rota.raise_wall();
select rota.grant_roles();
