-- Submissions: a one-time run of a task that is no job (docs/adr/0044-submissions.md). Its id is
-- both the id of the run and the `job_id` that the API answers; no row of rota.jobs has that id.
-- An immediate submission is a row of rota.live_runs from the start. One for a later instant waits
-- in rota.scheduled_runs, and a scheduler that holds its shard moves it when it is due.

-- What a submission carries beside its payload. Null for the run of a job, which says it.
-- `submitter` is the actor and `address` the client address, so no audit row is needed.
alter table rota.live_runs add column name text;
alter table rota.live_runs add column labels jsonb;
alter table rota.live_runs add column user_id text;
alter table rota.live_runs add column submitter text;
alter table rota.live_runs add column address text;

alter table rota.runs add column name text;
alter table rota.runs add column labels jsonb;
alter table rota.runs add column user_id text;
alter table rota.runs add column submitter text;
alter table rota.runs add column address text;

create table rota.scheduled_runs (
    tenant_id integer not null,
    id uuid not null,
    -- Set only for a one-time job of an earlier release, whose job id and run id differ.
    job_id uuid,
    shard smallint not null check (shard between 0 and 127),
    due_at timestamptz not null,
    created_at timestamptz not null default rota.now(),
    queue_id integer not null,
    kind_id integer not null,
    policy_id integer not null,
    priority smallint not null check (priority between 0 and 9),
    guarantee rota.guarantee not null,
    -- How long after its due time the run may go on; null means no limit.
    deadline interval,
    gates integer[],
    payload jsonb,
    name text,
    labels jsonb,
    user_id text,
    submitter text,
    address text,
    primary key (tenant_id, id)
) with (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000
);

create index scheduled_runs_due on rota.scheduled_runs (shard, due_at);
create index scheduled_runs_user on rota.scheduled_runs (tenant_id, user_id, id)
where user_id is not null;
create index scheduled_runs_job on rota.scheduled_runs (tenant_id, job_id)
where job_id is not null;

insert into rota.role_grants (relation, service, worker) values
('scheduled_runs', 'all', 'all');

select rota.raise_wall();
select rota.grant_roles();
