-- Runs: the unfinished ones in a small hot table, the finished ones in partitions by day.
--
-- A run's id begins with its time, so a day is a range of ids, the key is unique over all
-- partitions, and a look-up by id goes to one of them (docs/adr/0008-run-ids.md).

create type rota.run_state as enum (
    'blocked', 'queued', 'retrying', 'running', 'cancelling',
    'succeeded', 'dead', 'cancelled', 'skipped', 'missed', 'coalesced', 'expired', 'lost',
    'quarantined'
);

create type rota.run_trigger as enum (
    'tick', 'manual', 'api', 'event', 'graph', 'backfill', 'replay'
);

create table rota.live_runs (
    id uuid primary key,
    job_id uuid not null,
    -- The worker's session that holds the run; set exactly while it is running or cancelling.
    session_id uuid,
    -- Nominal time, time due after jitter, and the time from which a worker may take it: the
    -- due time, the end of a back-off, or when the row was written if that was later. Claims
    -- walk by ready_at because it rises with commits, which due_at does not after an outage.
    scheduled_at timestamptz not null,
    due_at timestamptz not null,
    ready_at timestamptz not null,
    created_at timestamptz not null,
    started_at timestamptz,
    deadline_at timestamptz,
    tenant_id integer not null,
    queue_id integer not null,
    kind_id integer not null,
    policy_id integer not null,
    job_version integer not null,
    state rota.run_state not null,
    trigger rota.run_trigger not null,
    priority smallint not null check (priority between 0 and 9),
    -- Rises with every claim and is the fence: a late worker knows a smaller one.
    attempt smallint not null default 0,
    -- Attempts that count towards the retries, and attempts lost with their worker.
    failures smallint not null default 0,
    losses smallint not null default 0,
    guarantee rota.guarantee not null,
    -- Null means the payload of the job at job_version.
    payload jsonb,
    constraint live_runs_state check (state < 'succeeded'),
    constraint live_runs_session
    check ((session_id is not null) = (state in ('running', 'cancelling')))
) with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.2,
    autovacuum_analyze_threshold = 5000
);

-- The walk of a claim: one lane is (queue, tenant, priority).
create index live_runs_waiting on rota.live_runs (queue_id, tenant_id, priority, ready_at, id)
where state in ('queued', 'retrying');

-- The waiting runs of a job, for its overlap policy.
create index live_runs_of_job on rota.live_runs (job_id)
where state in ('blocked', 'queued', 'retrying');

-- The few runs that somebody executes, among the many that wait: for overlap policies, heartbeats
-- and taking them back. By start, because such an index grows at its right edge, which is cheap:
-- every claim pays for an entry here.
create index live_runs_held on rota.live_runs (started_at)
where state in ('running', 'cancelling');

-- Finished runs, and ticks that were decided against. Rows are only ever added.
create table rota.runs (
    id uuid not null,
    job_id uuid not null,
    session_id uuid,
    scheduled_at timestamptz not null,
    due_at timestamptz not null,
    created_at timestamptz not null,
    started_at timestamptz,
    finished_at timestamptz not null,
    tenant_id integer not null,
    queue_id integer not null,
    kind_id integer not null,
    policy_id integer not null,
    job_version integer not null,
    state rota.run_state not null,
    -- The state it left for this one; null for a tick that never became a run.
    left_state rota.run_state,
    trigger rota.run_trigger not null,
    priority smallint not null,
    attempt smallint not null default 0,
    failures smallint not null default 0,
    losses smallint not null default 0,
    payload jsonb,
    result jsonb,
    -- {type, message, …} of the last failure, or {code, …} of why there was nothing to run.
    reason jsonb,
    primary key (id)
) partition by range (id);

-- What no daily partition takes: ticks older than the oldest one, or a day nobody made ahead.
create table rota.runs_rest partition of rota.runs default;

create index runs_job on rota.runs (job_id, id);
create index runs_tenant on rota.runs (tenant_id, id);
create index runs_bad on rota.runs (tenant_id, state, id)
where state in ('dead', 'lost', 'quarantined');

-- Attempts that did not end their run; the last attempt is told by the run itself.
create table rota.attempts (
    run_id uuid not null,
    attempt smallint not null,
    session_id uuid,
    outcome text not null check (outcome in ('failed', 'lost', 'snoozed', 'released', 'timed_out')),
    started_at timestamptz,
    finished_at timestamptz not null,
    reason jsonb,
    primary key (run_id, attempt)
) partition by range (run_id);

create table rota.attempts_rest partition of rota.attempts default;

create table rota.run_logs (
    run_id uuid not null,
    attempt smallint not null,
    seq integer not null,
    stream smallint not null,
    logged_at timestamptz not null,
    chunk bytea not null,
    primary key (run_id, attempt, seq)
) partition by range (run_id);

create table rota.run_logs_rest partition of rota.run_logs default;
