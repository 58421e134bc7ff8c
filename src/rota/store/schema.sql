-- The database schema of Rota: what all migrations together make.
-- Generated from src/rota/store/migrations by `make generate`; do not edit.
--
-- Left out, because the migrations derive them from the tables below:
--   partitions      `runs`, `attempts`, `events` and others have one partition per day, `audit` one
--                   per month, and `…_rest` for rows outside them
--   policies        rota.raise_wall() gives every table with a tenant_id row-level security
--   grants          rota.grant_roles() grants what the table role_grants lists
--   state guard     src/rota/store/generated/state_guard.sql: the moves of states that are allowed



-- Types

-- State of a backfill.
CREATE TYPE rota.backfill_state AS ENUM (
    'running',
    'paused',
    'cancelling',
    'finished',
    'cancelled'
);

-- Delivery guarantee of a run. at_least_once: a run whose worker was lost is tried again.
-- at_most_once: it is recorded as lost instead. exactly_once: the handler completes the run in its
-- own transaction.
CREATE TYPE rota.guarantee AS ENUM (
    'at_least_once',
    'at_most_once',
    'exactly_once'
);

-- State of a job definition.
CREATE TYPE rota.job_state AS ENUM (
    'active',
    'paused',
    'quarantined',
    'finished',
    'deleted'
);

-- What a tick does when an earlier run of the same job is still active.
CREATE TYPE rota.overlap AS ENUM (
    'skip',
    'queue_one',
    'queue_all',
    'cancel_running',
    'terminate_running',
    'allow'
);

-- State of a run. blocked, queued, retrying, running and cancelling are unfinished (table
-- live_runs); the others are final (table runs).
CREATE TYPE rota.run_state AS ENUM (
    'blocked',
    'queued',
    'retrying',
    'running',
    'cancelling',
    'succeeded',
    'dead',
    'cancelled',
    'skipped',
    'missed',
    'coalesced',
    'expired',
    'lost',
    'quarantined'
);

-- What created a run.
CREATE TYPE rota.run_trigger AS ENUM (
    'tick',
    'manual',
    'api',
    'event',
    'graph',
    'backfill',
    'replay'
);

-- What kind of process a session belongs to.
CREATE TYPE rota.session_role AS ENUM (
    'worker',
    'scheduler',
    'api'
);

-- What happens to ticks while the queue of their job is paused.
CREATE TYPE rota.when_queue_paused AS ENUM (
    'skip',
    'accumulate'
);



-- Table alert_channels

-- Channels that processes reported: names and health, never addresses.
CREATE TABLE rota.alert_channels (
    name text NOT NULL,
    kind text NOT NULL,
    -- Names of tenants that may use it; *: all.
    tenants text[] NOT NULL,
    -- Gets messages of expectations that name no route.
    is_default boolean DEFAULT false NOT NULL,
    -- Whether it gets messages about ended incidents.
    recovery boolean DEFAULT true NOT NULL,
    minimum_severity text DEFAULT 'info'::text NOT NULL,
    -- Messages beyond this number are counted in a digest.
    messages_per_hour integer DEFAULT 30 NOT NULL,
    -- Further messages, reserved for severity page.
    pages_per_hour integer DEFAULT 10 NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    sent_times timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    page_times timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    digest_at timestamp with time zone,
    last_sent_at timestamp with time zone,
    failing_since timestamp with time zone,
    -- Failed attempts since the last sent message.
    failures integer DEFAULT 0 NOT NULL,
    last_error text,
    CONSTRAINT alert_channels_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
)
WITH (fillfactor='70');
ALTER TABLE ONLY rota.alert_channels
    ADD CONSTRAINT alert_channels_pkey PRIMARY KEY (name);



-- Table alert_groups

-- Incidents of one tenant, route and expectation, which share messages.
CREATE TABLE rota.alert_groups (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    route text NOT NULL,
    expectation_id uuid NOT NULL,
    expectation_name text NOT NULL,
    -- Whether a message says that incidents ended.
    recovery boolean DEFAULT true NOT NULL,
    episode integer DEFAULT 0 NOT NULL,
    -- When the current episode began; null: the group has no open incident.
    began_at timestamp with time zone,
    last_message_at timestamp with time zone,
    -- Number of messages of the current episode.
    messages integer DEFAULT 0 NOT NULL,
    -- Per step of the route: when it got its first and its last message.
    steps jsonb DEFAULT '[]'::jsonb NOT NULL,
    -- When a process must look at the group; null: nothing to send.
    next_at timestamp with time zone,
    changed_at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');
ALTER TABLE ONLY rota.alert_groups
    ADD CONSTRAINT alert_groups_pkey PRIMARY KEY (id);

CREATE INDEX alert_groups_changed ON rota.alert_groups USING btree (changed_at) WHERE (next_at IS NULL);

CREATE INDEX alert_groups_next ON rota.alert_groups USING btree (next_at) WHERE (next_at IS NOT NULL);



-- Table alert_routes

-- Routes: which channels get the messages of an incident, and after which time.
CREATE TABLE rota.alert_routes (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    -- The steps in order: channels, delay, repetition, least severity.
    steps jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    -- The project whose rota.yaml declares the route; null if the API created it.
    project text,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    updated_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    CONSTRAINT alert_routes_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE ONLY rota.alert_routes
    ADD CONSTRAINT alert_routes_pkey PRIMARY KEY (tenant_id, name);



-- Table alert_states

-- Per expectation and subject: whether the expectation is violated, and which incident says so.
CREATE TABLE rota.alert_states (
    tenant_id integer NOT NULL,
    expectation_id uuid NOT NULL,
    -- Kind and id of the subject: job:<hex id>.
    subject_key text NOT NULL,
    -- idle: met. pending: violated, not yet for long enough. firing: part of an open incident.
    state text DEFAULT 'idle'::text NOT NULL,
    -- When the state began.
    since timestamp with time zone NOT NULL,
    job_id uuid,
    run_id uuid,
    incident_id uuid,
    -- How many times the violation opened an incident.
    opened integer DEFAULT 0 NOT NULL,
    -- How many times in a row the expectation was met since the last violation.
    met_in_row smallint DEFAULT 0 NOT NULL,
    -- When incidents opened and ended within the last hour; many mean flapping.
    changes timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    is_flapping boolean DEFAULT false NOT NULL,
    -- While flapping: whether the expectation was met at the last evaluation.
    is_met boolean DEFAULT false NOT NULL,
    next_at timestamp with time zone,
    -- The last violation: title, facts, policy, subject.
    finding jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT alert_states_state_check CHECK ((state = ANY (ARRAY['idle'::text, 'pending'::text, 'firing'::text]))),
    CONSTRAINT alert_states_subject_key_check CHECK ((length(subject_key) <= 600))
)
WITH (fillfactor='70');
ALTER TABLE ONLY rota.alert_states
    ADD CONSTRAINT alert_states_pkey PRIMARY KEY (expectation_id, subject_key);

CREATE INDEX alert_states_incident ON rota.alert_states USING btree (incident_id) WHERE (incident_id IS NOT NULL);

CREATE INDEX alert_states_next ON rota.alert_states USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX alert_states_run ON rota.alert_states USING btree (run_id) WHERE ((state = 'firing'::text) AND (run_id IS NOT NULL));



-- Table api_keys

-- API keys. Only the SHA-256 digest of a key is stored; a key is 256 random bits, so a fast hash is
-- enough.
CREATE TABLE rota.api_keys (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    -- SHA-256 of the key.
    digest bytea NOT NULL,
    -- viewer, operator, admin or platform.
    role text NOT NULL,
    -- The user that the key belongs to, as the caller named it.
    user_id text,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    used_at timestamp with time zone,
    -- The first characters of the key, shown in lists so that people can tell keys apart.
    handle text NOT NULL,
    CONSTRAINT api_keys_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT api_keys_handle_check CHECK ((length(handle) = 8)),
    CONSTRAINT api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT api_keys_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text, 'platform'::text])))
);
ALTER TABLE ONLY rota.api_keys
    ADD CONSTRAINT api_keys_digest_key UNIQUE (digest);

ALTER TABLE ONLY rota.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

CREATE INDEX api_keys_platform ON rota.api_keys USING btree (id) WHERE (role = 'platform'::text);

CREATE INDEX api_keys_tenant ON rota.api_keys USING btree (tenant_id, id);

ALTER TABLE ONLY rota.api_keys
    ADD CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES rota.tenants(id);



-- Table attempts

-- Attempts that did not finish their run: failed, timed out, lost, snoozed or released. The last
-- attempt of a run is described by the run itself. One partition per day, by the time in the run
-- id.
CREATE TABLE rota.attempts (
    run_id uuid NOT NULL,
    attempt smallint NOT NULL,
    session_id uuid,
    outcome text NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone NOT NULL,
    -- The failure: type, message, frame and traceback.
    reason jsonb,
    CONSTRAINT attempts_outcome_check CHECK ((outcome = ANY (ARRAY['failed'::text, 'lost'::text, 'snoozed'::text, 'released'::text, 'timed_out'::text])))
)
PARTITION BY RANGE (run_id);
ALTER TABLE ONLY rota.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (run_id, attempt);

CREATE INDEX attempts_ended ON ONLY rota.attempts USING brin (finished_at) WITH (pages_per_range='64');



-- Table audit

-- Audit log: who changed what, and when. Rows are only added; retention drops whole months.
CREATE TABLE rota.audit (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT rota.now() NOT NULL,
    tenant_id integer NOT NULL,
    actor text NOT NULL,
    -- Client address of the request.
    source text,
    action text NOT NULL,
    -- Type of the object that was changed, such as job or key.
    thing text NOT NULL,
    thing_id text NOT NULL,
    before jsonb,
    after jsonb,
    request_id text,
    key_id uuid,
    -- How the change was made: code, file, dashboard, command line or API.
    origin text
);
ALTER TABLE rota.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);

CREATE INDEX audit_page ON rota.audit USING btree (tenant_id, id);

CREATE INDEX audit_thing ON rota.audit USING btree (tenant_id, thing, thing_id, id);

CREATE TRIGGER audit_by_month BEFORE INSERT ON rota.audit FOR EACH ROW EXECUTE FUNCTION rota.route_audit();

CREATE TRIGGER audit_only_grows BEFORE DELETE OR UPDATE OR TRUNCATE ON rota.audit FOR EACH STATEMENT EXECUTE FUNCTION rota.refuse_rewriting();



-- Table backfill_runs

-- Runs of a backfill that were not yet seen to finish; a window of bounded size.
CREATE TABLE rota.backfill_runs (
    backfill_id uuid NOT NULL,
    run_id uuid NOT NULL,
    tenant_id integer NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000');
ALTER TABLE ONLY rota.backfill_runs
    ADD CONSTRAINT backfill_runs_pkey PRIMARY KEY (backfill_id, run_id);



-- Table backfills

-- Backfills: runs for a range of past ticks, created in small steps. A job has at most one active
-- backfill.
CREATE TABLE rota.backfills (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    job_id uuid NOT NULL,
    state rota.backfill_state DEFAULT 'running'::rota.backfill_state NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    -- The schedule that the job had when the backfill was requested.
    schedule jsonb NOT NULL,
    -- Which ticks get a run: missing, failed or all.
    picks text NOT NULL,
    newest_first boolean NOT NULL,
    -- How many runs of the backfill may be active at the same time.
    at_once integer NOT NULL,
    priority smallint NOT NULL,
    -- Replaces the payload of the job. Null: the payload of the job.
    payload jsonb,
    -- The gate that all runs of the backfill pass; it is closed while the backfill is paused.
    gate_id integer NOT NULL,
    -- Progress. Oldest first: ticks before this time are decided. Newest first: ticks from this
    -- time on are.
    reached timestamp with time zone NOT NULL,
    -- Ticks examined so far.
    ticks bigint DEFAULT 0 NOT NULL,
    -- Runs created so far.
    made bigint DEFAULT 0 NOT NULL,
    succeeded bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    cancelled bigint DEFAULT 0 NOT NULL,
    -- How many runs it was expected to create.
    expected bigint NOT NULL,
    -- Whether `expected` is an estimate.
    is_guess boolean NOT NULL,
    -- When a scheduler continues the backfill.
    look_at timestamp with time zone NOT NULL,
    paused_at timestamp with time zone,
    paused_for interval DEFAULT '00:00:00'::interval NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    ended_at timestamp with time zone,
    reason jsonb,
    CONSTRAINT backfills_at_once_check CHECK (((at_once >= 1) AND (at_once <= 1000))),
    CONSTRAINT backfills_check CHECK ((until >= since)),
    CONSTRAINT backfills_ended CHECK (((ended_at IS NOT NULL) = (state = ANY (ARRAY['finished'::rota.backfill_state, 'cancelled'::rota.backfill_state])))),
    CONSTRAINT backfills_paused CHECK (((state <> 'paused'::rota.backfill_state) OR (paused_at IS NOT NULL))),
    CONSTRAINT backfills_picks_check CHECK ((picks = ANY (ARRAY['missing'::text, 'failed'::text, 'all'::text]))),
    CONSTRAINT backfills_priority_check CHECK (((priority >= 0) AND (priority <= 9)))
)
WITH (fillfactor='50');
ALTER TABLE ONLY rota.backfills
    ADD CONSTRAINT backfills_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX backfills_gate ON rota.backfills USING btree (gate_id);

CREATE INDEX backfills_look ON rota.backfills USING btree (look_at) WHERE (state = ANY (ARRAY['running'::rota.backfill_state, 'paused'::rota.backfill_state, 'cancelling'::rota.backfill_state]));

CREATE INDEX backfills_old ON rota.backfills USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX backfills_page ON rota.backfills USING btree (tenant_id, id);

CREATE UNIQUE INDEX backfills_unfinished ON rota.backfills USING btree (job_id) WHERE (state = ANY (ARRAY['running'::rota.backfill_state, 'paused'::rota.backfill_state, 'cancelling'::rota.backfill_state]));



-- Table calendars

-- Calendars that schedules refer to by name: holidays, working days, blackout windows.
CREATE TABLE rota.calendars (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    body jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    updated_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    CONSTRAINT calendars_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT calendars_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY rota.calendars
    ADD CONSTRAINT calendars_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY rota.calendars
    ADD CONSTRAINT calendars_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES rota.tenants(id);



-- Table cursors

-- The next tick of each job that has ticks to come. Separate from jobs, because firing a tick must
-- not rewrite the definition.
CREATE TABLE rota.cursors (
    job_id uuid NOT NULL,
    -- Nominal time of the next tick. The run id is derived from job and tick.
    tick_at timestamp with time zone NOT NULL,
    -- When the tick is decided, after jitter or a deferring calendar. Null while the job is on
    -- hold.
    fire_at timestamp with time zone,
    -- Version of the job when the tick was computed; firing with an older version changes nothing.
    version integer NOT NULL,
    -- Ticks fired so far; counted only for a job with a maximum.
    fired integer,
    tenant_id integer NOT NULL,
    queue_id integer NOT NULL,
    kind_id integer NOT NULL,
    policy_id integer NOT NULL,
    -- Null for a job that fires once.
    schedule_id integer,
    overlap rota.overlap NOT NULL,
    -- The shard whose scheduler fires the tick.
    shard smallint NOT NULL,
    priority smallint NOT NULL,
    guarantee rota.guarantee NOT NULL,
    gates integer[],
    -- Deadline of the run, counted from its due time.
    deadline interval,
    -- For overlap queue_one: keep the first waiting tick instead of the latest.
    keep_first boolean DEFAULT false NOT NULL,
    when_queue_paused rota.when_queue_paused DEFAULT 'skip'::rota.when_queue_paused NOT NULL,
    CONSTRAINT cursors_shard_check CHECK (((shard >= 0) AND (shard <= 127)))
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000');
ALTER TABLE ONLY rota.cursors
    ADD CONSTRAINT cursors_pkey PRIMARY KEY (job_id);

CREATE INDEX cursors_due ON rota.cursors USING btree (shard, fire_at) WHERE (fire_at IS NOT NULL);



-- Table ended_jobs

-- Jobs whose last tick was fired; a maintenance service marks them as finished.
CREATE TABLE rota.ended_jobs (
    job_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='10000');


-- Table event_keys

-- Deduplication of events by a hash of (source, id).
CREATE TABLE rota.event_keys (
    tenant_id integer NOT NULL,
    digest bytea NOT NULL,
    event_id uuid NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT event_keys_digest_check CHECK ((length(digest) = 16))
);
ALTER TABLE ONLY rota.event_keys
    ADD CONSTRAINT event_keys_pkey PRIMARY KEY (tenant_id, digest);

CREATE INDEX event_keys_age ON rota.event_keys USING btree (received_at);



-- Table event_members

-- Which events an event batch or its run consists of.
CREATE TABLE rota.event_members (
    run_id uuid NOT NULL,
    -- Position in the batch, or number of the condition in `all_of`.
    part integer NOT NULL,
    event_id uuid NOT NULL,
    tenant_id integer NOT NULL
);
ALTER TABLE ONLY rota.event_members
    ADD CONSTRAINT event_members_pkey PRIMARY KEY (run_id, part);



-- Table event_piles

-- Event batches: events that wait to become one run, one batch per job and key.
CREATE TABLE rota.event_piles (
    job_id uuid NOT NULL,
    key text NOT NULL,
    tenant_id integer NOT NULL,
    -- Id of the run that the batch becomes; chosen when the batch is opened.
    run_id uuid NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    -- When the window closes.
    due_at timestamp with time zone NOT NULL,
    count integer NOT NULL,
    -- Bytes collected so far.
    size integer NOT NULL,
    -- For `all_of`: which conditions are met.
    filled integer NOT NULL
)
WITH (fillfactor='70');
ALTER TABLE ONLY rota.event_piles
    ADD CONSTRAINT event_piles_pkey PRIMARY KEY (job_id, key);

CREATE INDEX event_piles_due ON rota.event_piles USING btree (due_at);



-- Table event_types

-- Which jobs wait for which event types. A trigger on jobs maintains it.
CREATE TABLE rota.event_types (
    tenant_id integer NOT NULL,
    type text NOT NULL,
    job_id uuid NOT NULL
);
ALTER TABLE ONLY rota.event_types
    ADD CONSTRAINT event_types_pkey PRIMARY KEY (tenant_id, type, job_id);

CREATE INDEX event_types_job ON rota.event_types USING btree (job_id);



-- Table events

-- Events received from outside. One partition per day, by the time in the event id.
CREATE TABLE rota.events (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    type text NOT NULL,
    source text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    -- All attributes of the event, as expressions and handlers see them.
    body jsonb NOT NULL,
    -- What the event led to, per job: {job_id, outcome, run_id, why}.
    matches jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT events_source_check CHECK (((length(source) >= 1) AND (length(source) <= 500))),
    CONSTRAINT events_type_check CHECK (((length(type) >= 1) AND (length(type) <= 200)))
)
PARTITION BY RANGE (id);
ALTER TABLE ONLY rota.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

CREATE INDEX events_of_source ON ONLY rota.events USING btree (tenant_id, source, id);

CREATE INDEX events_of_type ON ONLY rota.events USING btree (tenant_id, type, id);

CREATE INDEX events_tenant ON ONLY rota.events USING btree (tenant_id, id);



-- Table expectations

-- Rules: one condition for all jobs, steps, tasks or queues of a tenant that a selector matches.
CREATE TABLE rota.expectations (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    -- Which subjects the rule applies to: patterns of job, step, task and queue, and labels.
    selector jsonb NOT NULL,
    -- The condition, an object with one field.
    condition jsonb NOT NULL,
    -- How violations are reported: to, severity, for, clear, recovery.
    policy jsonb NOT NULL,
    is_enabled boolean DEFAULT true NOT NULL,
    -- Rises with every edit; an edit that names an older one is refused.
    version integer DEFAULT 1 NOT NULL,
    -- The project whose rota.yaml declares the rule; null if the API created it.
    project text,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    updated_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    CONSTRAINT expectations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE ONLY rota.expectations
    ADD CONSTRAINT expectations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rota.expectations
    ADD CONSTRAINT expectations_tenant_id_name_key UNIQUE (tenant_id, name);



-- Table gates

-- Limits: concurrency, rate, or strict order. No counters that could leak: a claim locks the gate
-- and counts the runs that pass it now.
CREATE TABLE rota.gates (
    id integer NOT NULL,
    tenant_id integer NOT NULL,
    -- What the limit applies to, with placeholders filled in.
    key text NOT NULL,
    -- Maximum number of active runs. Null: unlimited.
    most integer,
    -- Starts allowed per `rate_per`. Null: unlimited.
    rate_count integer,
    rate_per interval,
    rate_burst integer,
    -- State of the rate limit: the time up to which all starts are accounted for.
    paid_until timestamp with time zone,
    -- One run at a time, in the order of (scheduled_at, id).
    in_order boolean DEFAULT false NOT NULL,
    -- When retention found that nothing refers to the gate.
    unused_since timestamp with time zone,
    CONSTRAINT gates_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT gates_most_check CHECK ((most > 0)),
    CONSTRAINT gates_rate CHECK ((((rate_count IS NULL) = (rate_per IS NULL)) AND ((rate_count IS NULL) = (rate_burst IS NULL)))),
    CONSTRAINT gates_rate_burst_check CHECK ((rate_burst > 0)),
    CONSTRAINT gates_rate_count_check CHECK ((rate_count > 0)),
    CONSTRAINT gates_rate_per_check CHECK ((rate_per > '00:00:00'::interval))
)
WITH (fillfactor='50');
ALTER TABLE rota.gates ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.gates_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.gates
    ADD CONSTRAINT gates_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rota.gates
    ADD CONSTRAINT gates_tenant_id_key_key UNIQUE (tenant_id, key);



-- Table graph_items

-- Items of a map that have not become runs yet, up to a thousand per row.
CREATE TABLE rota.graph_items (
    run_id uuid NOT NULL,
    step integer NOT NULL,
    -- Index of the first item.
    first integer NOT NULL,
    tenant_id integer NOT NULL,
    number integer NOT NULL,
    -- The items.
    items jsonb NOT NULL,
    CONSTRAINT graph_items_number_check CHECK ((number > 0))
)
PARTITION BY RANGE (run_id);
ALTER TABLE ONLY rota.graph_items
    ADD CONSTRAINT graph_items_pkey PRIMARY KEY (run_id, step, first);



-- Table graph_maps

-- Progress of a map step: how many members exist, were created, and ended in which way.
CREATE TABLE rota.graph_maps (
    run_id uuid NOT NULL,
    step integer NOT NULL,
    tenant_id integer NOT NULL,
    round smallint DEFAULT 0 NOT NULL,
    -- Number of members; null while the source still produces items.
    total integer,
    -- Members created so far.
    made integer DEFAULT 0 NOT NULL,
    succeeded integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    cancelled integer DEFAULT 0 NOT NULL,
    reason jsonb,
    -- Items produced by the source so far.
    handed integer DEFAULT 0 NOT NULL,
    -- Failed members that wait to run again after a retry.
    again integer DEFAULT 0 NOT NULL,
    -- The retry continues after this member.
    again_after integer DEFAULT '-1'::integer NOT NULL,
    -- Round in which the map began; ids of members contain it.
    base smallint DEFAULT 0 NOT NULL,
    -- The items are the numbers from 0.
    is_counted boolean DEFAULT false NOT NULL,
    -- The source still produces items.
    is_sourcing boolean DEFAULT false NOT NULL,
    -- The state in which the map will end because no more members are created; null while it
    -- proceeds.
    stopped text,
    started_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT graph_maps_stopped_check CHECK ((stopped = ANY (ARRAY['failed'::text, 'cancelled'::text])))
)
PARTITION BY RANGE (run_id);
ALTER TABLE ONLY rota.graph_maps
    ADD CONSTRAINT graph_maps_pkey PRIMARY KEY (run_id, step);



-- Table graph_runs

-- State of graph runs. The row is the lock: a worker or scheduler that advances a graph run holds
-- it.
CREATE TABLE rota.graph_runs (
    run_id uuid NOT NULL,
    tenant_id integer NOT NULL,
    job_id uuid NOT NULL,
    -- The definition that the run began with. Null if the job has no graph any more; the run then
    -- ends as dead.
    graph_id integer,
    -- Path to the sub-graph that this run executes: step numbers, empty for the whole graph.
    path integer[] DEFAULT '{}'::integer[] NOT NULL,
    -- State of every step, one character each; empty until the first pass.
    board text DEFAULT ''::text NOT NULL,
    -- Rises with every retry of the graph run; ids of step runs contain it.
    round smallint DEFAULT 0 NOT NULL,
    -- {step: round} for steps whose last run belongs to a later round.
    rounds jsonb DEFAULT '{}'::jsonb NOT NULL,
    -- {step: reason} for steps that did not run, or failed before they ran.
    told jsonb DEFAULT '{}'::jsonb NOT NULL,
    started_at timestamp with time zone NOT NULL,
    paused_at timestamp with time zone,
    ended_at timestamp with time zone
)
PARTITION BY RANGE (run_id);
ALTER TABLE ONLY rota.graph_runs
    ADD CONSTRAINT graph_runs_pkey PRIMARY KEY (run_id);



-- Table graphs

-- Graph definitions, shared by all rows that use the same one. A row never changes.
CREATE TABLE rota.graphs (
    id integer NOT NULL,
    tenant_id integer NOT NULL,
    -- Hash of the definition.
    digest text NOT NULL,
    definition jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    unused_since timestamp with time zone,
    CONSTRAINT graphs_digest_check CHECK ((length(digest) = 32))
);
ALTER TABLE rota.graphs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.graphs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.graphs
    ADD CONSTRAINT graphs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rota.graphs
    ADD CONSTRAINT graphs_tenant_id_digest_key UNIQUE (tenant_id, digest);



-- Table hook_deliveries

-- Accepted signatures of webhooks whose senders sign no time: protects against replayed requests.
CREATE TABLE rota.hook_deliveries (
    tenant_id integer NOT NULL,
    hook_id uuid NOT NULL,
    digest bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT hook_deliveries_digest_check CHECK ((length(digest) = 32))
);
ALTER TABLE ONLY rota.hook_deliveries
    ADD CONSTRAINT hook_deliveries_pkey PRIMARY KEY (hook_id, digest);

CREATE INDEX hook_deliveries_age ON rota.hook_deliveries USING btree (received_at);

ALTER TABLE ONLY rota.hook_deliveries
    ADD CONSTRAINT hook_deliveries_hook_id_fkey FOREIGN KEY (hook_id) REFERENCES rota.hooks(id) ON DELETE CASCADE;



-- Table hooks

-- Webhook endpoints that accept signed events without an API key.
CREATE TABLE rota.hooks (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    -- Signature scheme.
    style text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    key_id text NOT NULL,
    -- The signing secret, encrypted with the master key `key_id`.
    ciphertext bytea NOT NULL,
    -- The previous secret, valid until `former_until`.
    former bytea,
    former_until timestamp with time zone,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT hooks_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT hooks_style_check CHECK ((style = ANY (ARRAY['standard'::text, 'github'::text]))),
    CONSTRAINT hooks_type_check CHECK (((length(type) >= 1) AND (length(type) <= 200)))
);
ALTER TABLE ONLY rota.hooks
    ADD CONSTRAINT hooks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rota.hooks
    ADD CONSTRAINT hooks_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY rota.hooks
    ADD CONSTRAINT hooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES rota.tenants(id);



-- Table idempotency

-- Responses to requests with an idempotency key; a repeated request gets the stored response.
CREATE TABLE rota.idempotency (
    tenant_id integer NOT NULL,
    -- The operation that the key belongs to.
    scope text NOT NULL,
    key text NOT NULL,
    -- Hash of the request: a key that comes with another request is refused.
    fingerprint bytea NOT NULL,
    -- Null while the first request is in progress.
    status smallint,
    body bytea,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    CONSTRAINT idempotency_fingerprint_check CHECK ((length(fingerprint) = 32)),
    CONSTRAINT idempotency_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
ALTER TABLE ONLY rota.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (tenant_id, scope, key);

CREATE INDEX idempotency_age ON rota.idempotency USING btree (created_at);



-- Table incident_events

-- The thread of each incident: opened, updated, acknowledged, note, silenced, resolved. Only ever
-- added to. The event relay reads it.
CREATE TABLE rota.incident_events (
    id bigint NOT NULL,
    tenant_id integer NOT NULL,
    incident_id uuid NOT NULL,
    at timestamp with time zone DEFAULT rota.now() NOT NULL,
    type text NOT NULL,
    -- Name of the key or person; null: Rota itself.
    by text,
    text text,
    -- The fields of the incident at that time.
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT incident_events_type_check CHECK (((length(type) >= 1) AND (length(type) <= 50)))
);
ALTER TABLE rota.incident_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.incident_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.incident_events
    ADD CONSTRAINT incident_events_pkey PRIMARY KEY (id);

CREATE INDEX incident_events_at ON rota.incident_events USING btree (at, id);

CREATE INDEX incident_events_incident ON rota.incident_events USING btree (incident_id, id);



-- Table incidents

-- What is or was wrong: violated expectations of one subject, from the first to the last finding.
CREATE TABLE rota.incidents (
    id uuid NOT NULL,
    -- 0: the installation itself.
    tenant_id integer NOT NULL,
    state text NOT NULL,
    severity text NOT NULL,
    title text NOT NULL,
    condition text NOT NULL,
    -- The worst of the violated expectations.
    expectation_id uuid NOT NULL,
    expectation_name text NOT NULL,
    subject_kind text NOT NULL,
    subject_id text NOT NULL,
    subject_name text NOT NULL,
    job_id uuid,
    queue text,
    task text,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    run_id uuid,
    facts jsonb DEFAULT '{}'::jsonb NOT NULL,
    -- How many bad runs the incident stands for.
    count bigint DEFAULT 1 NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    acknowledged_at timestamp with time zone,
    acknowledged_by text,
    resolved_at timestamp with time zone,
    resolved_by text,
    -- Why the incident ended.
    resolution text,
    is_flapping boolean DEFAULT false NOT NULL,
    -- Code of the cause that explains the incident; while set, no message names it.
    inhibited_by text,
    silence_id uuid,
    -- Until when a silence holds messages back; the incident stays visible.
    silenced_until timestamp with time zone,
    group_id uuid NOT NULL,
    -- When a message first named or counted it.
    announced_at timestamp with time zone,
    announced_severity text,
    announced_flapping boolean DEFAULT false NOT NULL,
    announced_end boolean DEFAULT false NOT NULL,
    CONSTRAINT incidents_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'page'::text]))),
    CONSTRAINT incidents_state_check CHECK ((state = ANY (ARRAY['open'::text, 'acknowledged'::text, 'resolved'::text])))
)
WITH (fillfactor='70');
ALTER TABLE ONLY rota.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (id);

CREATE INDEX incidents_group ON rota.incidents USING btree (group_id) WHERE ((state <> 'resolved'::text) OR ((announced_at IS NOT NULL) AND (NOT announced_end)));

CREATE INDEX incidents_job ON rota.incidents USING btree (job_id, opened_at DESC) WHERE (job_id IS NOT NULL);

CREATE INDEX incidents_open ON rota.incidents USING btree (tenant_id, opened_at DESC, id DESC) WHERE (state <> 'resolved'::text);

CREATE INDEX incidents_open_job ON rota.incidents USING btree (job_id) WHERE ((state <> 'resolved'::text) AND (job_id IS NOT NULL));

CREATE INDEX incidents_recent ON rota.incidents USING btree (tenant_id, opened_at DESC, id DESC);

CREATE INDEX incidents_resolved ON rota.incidents USING btree (resolved_at) WHERE (state = 'resolved'::text);



-- Table job_versions

-- Definitions that an edit replaced, so that every run can show what it ran with. A trigger on jobs
-- writes them.
CREATE TABLE rota.job_versions (
    tenant_id integer NOT NULL,
    job_id uuid NOT NULL,
    from_version integer NOT NULL,
    until_version integer NOT NULL,
    -- Version number as people see it.
    number integer NOT NULL,
    name text NOT NULL,
    payload jsonb,
    labels jsonb NOT NULL,
    graph_id integer,
    definition jsonb NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY rota.job_versions
    ADD CONSTRAINT job_versions_pkey PRIMARY KEY (job_id, until_version);

CREATE INDEX job_versions_until ON rota.job_versions USING btree (valid_until);



-- Table jobs

-- Job definitions.
CREATE TABLE rota.jobs (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    state rota.job_state DEFAULT 'active'::rota.job_state NOT NULL,
    -- Rises with every change; firing with an older version changes nothing.
    version integer DEFAULT 1 NOT NULL,
    kind_id integer NOT NULL,
    queue_id integer NOT NULL,
    policy_id integer NOT NULL,
    priority smallint DEFAULT 5 NOT NULL,
    overlap rota.overlap DEFAULT 'skip'::rota.overlap NOT NULL,
    guarantee rota.guarantee DEFAULT 'at_least_once'::rota.guarantee NOT NULL,
    -- Null for a job that runs on request or on events.
    schedule jsonb,
    payload jsonb,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    user_id text,
    -- Why the job is paused or quarantined: {by, at, reason, until}.
    held jsonb,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    updated_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    -- Limits as declared; their keys contain placeholders that a run fills in.
    limits jsonb,
    -- For overlap queue_one: keep the first waiting tick instead of the latest.
    keep_first boolean DEFAULT false NOT NULL,
    graph_id integer,
    when_queue_paused rota.when_queue_paused DEFAULT 'skip'::rota.when_queue_paused NOT NULL,
    -- Schedules that edits replaced while the job was paused, and how far each was decided.
    paused_stretches jsonb,
    -- How often `version` rose without a change of the definition; people see the difference of
    -- both.
    version_skips integer DEFAULT 0 NOT NULL,
    -- `version` at the last change of the definition.
    defined_since integer,
    description text,
    -- Conditions that the runs of the job must meet, as a document of contract/expectations.py.
    expect jsonb,
    -- How violations of `expect` are reported: route, severity, how long a violation must last.
    alert jsonb,
    CONSTRAINT jobs_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT jobs_priority_check CHECK (((priority >= 0) AND (priority <= 9))),
    CONSTRAINT jobs_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY rota.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

CREATE INDEX jobs_changed ON rota.jobs USING brin (updated_at) WITH (pages_per_range='64');

CREATE INDEX jobs_expecting ON rota.jobs USING btree (tenant_id, id) WHERE (((expect IS NOT NULL) OR (alert IS NOT NULL)) AND (state <> 'deleted'::rota.job_state));

CREATE INDEX jobs_listing ON rota.jobs USING btree (tenant_id, created_at, id);

CREATE UNIQUE INDEX jobs_name ON rota.jobs USING btree (tenant_id, name) WHERE (state = ANY (ARRAY['active'::rota.job_state, 'paused'::rota.job_state, 'quarantined'::rota.job_state, 'finished'::rota.job_state]));

CREATE INDEX jobs_of_project ON rota.jobs USING btree (tenant_id, id) WHERE ((labels ? 'rota.project'::text) AND (state <> 'deleted'::rota.job_state));

CREATE INDEX jobs_of_user ON rota.jobs USING btree (tenant_id, user_id, created_at, id) WHERE (user_id IS NOT NULL);

CREATE INDEX jobs_removable ON rota.jobs USING btree (updated_at) WHERE (state = ANY (ARRAY['deleted'::rota.job_state, 'finished'::rota.job_state]));

CREATE TRIGGER event_types_of_changed AFTER UPDATE OF schedule, state ON rota.jobs FOR EACH ROW WHEN ((((new.schedule ? 'event'::text) OR (old.schedule ? 'event'::text)) AND ((new.schedule IS DISTINCT FROM old.schedule) OR ((new.state = 'deleted'::rota.job_state) <> (old.state = 'deleted'::rota.job_state))))) EXECUTE FUNCTION rota.keep_event_types();

CREATE TRIGGER event_types_of_new AFTER INSERT ON rota.jobs FOR EACH ROW WHEN ((new.schedule ? 'event'::text)) EXECUTE FUNCTION rota.keep_event_types();

CREATE TRIGGER jobs_moves BEFORE UPDATE OF state ON rota.jobs FOR EACH ROW WHEN (((old.state <> new.state) AND (((((((((((((old.state <> 'active'::rota.job_state) OR (new.state <> 'deleted'::rota.job_state)) AND ((old.state <> 'active'::rota.job_state) OR (new.state <> 'finished'::rota.job_state))) AND ((old.state <> 'active'::rota.job_state) OR (new.state <> 'paused'::rota.job_state))) AND ((old.state <> 'active'::rota.job_state) OR (new.state <> 'quarantined'::rota.job_state))) AND ((old.state <> 'finished'::rota.job_state) OR (new.state <> 'active'::rota.job_state))) AND ((old.state <> 'finished'::rota.job_state) OR (new.state <> 'deleted'::rota.job_state))) AND ((old.state <> 'paused'::rota.job_state) OR (new.state <> 'active'::rota.job_state))) AND ((old.state <> 'paused'::rota.job_state) OR (new.state <> 'deleted'::rota.job_state))) AND ((old.state <> 'paused'::rota.job_state) OR (new.state <> 'finished'::rota.job_state))) AND ((old.state <> 'quarantined'::rota.job_state) OR (new.state <> 'active'::rota.job_state))) AND ((old.state <> 'quarantined'::rota.job_state) OR (new.state <> 'deleted'::rota.job_state))) AND ((old.state <> 'quarantined'::rota.job_state) OR (new.state <> 'paused'::rota.job_state))))) EXECUTE FUNCTION rota.refuse_move('job');

CREATE TRIGGER keep_definition BEFORE UPDATE OF version ON rota.jobs FOR EACH ROW WHEN (((old.defined_since IS NULL) OR ((new.version - new.version_skips) <> (old.version - old.version_skips)))) EXECUTE FUNCTION rota.keep_definition();



-- Table kinds

-- Tasks: the kinds of work that workers serve, with what a worker declared about them.
CREATE TABLE rota.kinds (
    id integer NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    -- JSON Schema of the payload, if a worker declared one.
    payload_schema jsonb,
    -- Whether its handlers can complete a run in their own transaction; null until a worker
    -- declared it.
    exactly_once boolean,
    -- The tenant whose submission created the name; null for names declared by workers.
    made_by integer,
    unused_since timestamp with time zone,
    description text,
    -- Policy that the code declares for the task.
    default_policy jsonb,
    CONSTRAINT kinds_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE rota.kinds ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.kinds_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.kinds
    ADD CONSTRAINT kinds_name_key UNIQUE (name);

ALTER TABLE ONLY rota.kinds
    ADD CONSTRAINT kinds_pkey PRIMARY KEY (id);



-- Table live_runs

-- Unfinished runs: waiting, running, cancelling. The hot table; a run moves to runs when it
-- finishes.
CREATE TABLE rota.live_runs (
    id uuid NOT NULL,
    -- The job, or the id of the submission itself.
    job_id uuid NOT NULL,
    -- The worker session that holds the run; set exactly while it is running or cancelling.
    session_id uuid,
    -- Nominal time.
    scheduled_at timestamp with time zone NOT NULL,
    -- Time due, after jitter.
    due_at timestamp with time zone NOT NULL,
    -- From when a worker may claim it: due time, end of a retry delay, or time of insertion if that
    -- was later. Claims scan by it.
    ready_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    deadline_at timestamp with time zone,
    tenant_id integer NOT NULL,
    queue_id integer NOT NULL,
    kind_id integer NOT NULL,
    policy_id integer NOT NULL,
    job_version integer NOT NULL,
    state rota.run_state NOT NULL,
    trigger rota.run_trigger NOT NULL,
    priority smallint NOT NULL,
    -- Rises with every claim and fences late workers: a result with a smaller attempt is refused.
    attempt smallint DEFAULT 0 NOT NULL,
    -- Attempts that count towards the retries.
    failures smallint DEFAULT 0 NOT NULL,
    -- Attempts lost with their worker.
    losses smallint DEFAULT 0 NOT NULL,
    guarantee rota.guarantee NOT NULL,
    -- Null: the payload of the job at `job_version`.
    payload jsonb,
    -- Gates that the run passes, the narrowest first; null for none.
    gates integer[],
    -- The graph run that this run is a step of.
    graph_run_id uuid,
    -- Number of the step in its graph.
    step integer,
    -- Number of the member of a map step.
    member integer,
    -- Last change that no other column shows: retry, release, lost worker, cancel request, requeue.
    changed_at timestamp with time zone,
    name text,
    labels jsonb,
    user_id text,
    -- Who submitted it; null for runs of a job.
    submitter text,
    -- Client address of the submitter.
    address text,
    CONSTRAINT live_runs_priority_check CHECK (((priority >= 0) AND (priority <= 9))),
    CONSTRAINT live_runs_session CHECK (((session_id IS NOT NULL) = (state = ANY (ARRAY['running'::rota.run_state, 'cancelling'::rota.run_state])))),
    CONSTRAINT live_runs_state CHECK ((state < 'succeeded'::rota.run_state))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000', autovacuum_analyze_scale_factor='0.2', autovacuum_analyze_threshold='5000');
ALTER TABLE ONLY rota.live_runs
    ADD CONSTRAINT live_runs_pkey PRIMARY KEY (id);

CREATE INDEX live_runs_deadline ON rota.live_runs USING btree (deadline_at) WHERE ((state = ANY (ARRAY['blocked'::rota.run_state, 'queued'::rota.run_state, 'retrying'::rota.run_state])) AND (deadline_at IS NOT NULL));

CREATE INDEX live_runs_gated ON rota.live_runs USING btree (queue_id, (gates[1]), priority, ready_at, id) WHERE ((state = ANY (ARRAY['queued'::rota.run_state, 'retrying'::rota.run_state])) AND (gates IS NOT NULL));

CREATE INDEX live_runs_held ON rota.live_runs USING btree (started_at) WHERE (state = ANY (ARRAY['running'::rota.run_state, 'cancelling'::rota.run_state]));

CREATE INDEX live_runs_in_order ON rota.live_runs USING btree (((gates[1])::bigint), scheduled_at, id) WHERE ((state = ANY (ARRAY['queued'::rota.run_state, 'retrying'::rota.run_state])) AND (gates IS NOT NULL));

CREATE INDEX live_runs_of_graph ON rota.live_runs USING btree (graph_run_id, step) WHERE (graph_run_id IS NOT NULL);

CREATE INDEX live_runs_of_job ON rota.live_runs USING btree (job_id) WHERE ((state = ANY (ARRAY['blocked'::rota.run_state, 'queued'::rota.run_state, 'retrying'::rota.run_state])) AND (trigger <> 'graph'::rota.run_trigger));

CREATE INDEX live_runs_unfolded ON rota.live_runs USING btree (id) WHERE ((state = 'blocked'::rota.run_state) AND (gates IS NOT NULL));

CREATE INDEX live_runs_user ON rota.live_runs USING btree (tenant_id, user_id, id) WHERE (user_id IS NOT NULL);

CREATE INDEX live_runs_waiting ON rota.live_runs USING btree (queue_id, tenant_id, priority, ready_at, id) WHERE ((state = ANY (ARRAY['queued'::rota.run_state, 'retrying'::rota.run_state])) AND (gates IS NULL));

CREATE TRIGGER live_runs_births BEFORE INSERT ON rota.live_runs FOR EACH ROW WHEN ((new.state <> ALL (ARRAY['blocked'::rota.run_state, 'queued'::rota.run_state]))) EXECUTE FUNCTION rota.refuse_move('run');

CREATE TRIGGER live_runs_moves BEFORE UPDATE OF state ON rota.live_runs FOR EACH ROW WHEN (((old.state <> new.state) AND ((((((((old.state <> 'queued'::rota.run_state) OR (new.state <> 'running'::rota.run_state)) AND ((old.state <> 'retrying'::rota.run_state) OR (new.state <> 'running'::rota.run_state))) AND ((old.state <> 'blocked'::rota.run_state) OR (new.state <> 'queued'::rota.run_state))) AND ((old.state <> 'running'::rota.run_state) OR (new.state <> 'blocked'::rota.run_state))) AND ((old.state <> 'running'::rota.run_state) OR (new.state <> 'cancelling'::rota.run_state))) AND ((old.state <> 'running'::rota.run_state) OR (new.state <> 'queued'::rota.run_state))) AND ((old.state <> 'running'::rota.run_state) OR (new.state <> 'retrying'::rota.run_state))))) EXECUTE FUNCTION rota.refuse_move('run');



-- Table logins

-- Dashboard sessions and one-time login tickets. No tenant_id: a login is found before its tenant
-- is known.
CREATE TABLE rota.logins (
    digest bytea NOT NULL,
    key_id uuid NOT NULL,
    -- A ticket is valid for one login within a minute; `rota open` puts it into a link.
    is_ticket boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT logins_digest_check CHECK ((length(digest) = 32))
);
ALTER TABLE ONLY rota.logins
    ADD CONSTRAINT logins_pkey PRIMARY KEY (digest);

CREATE INDEX logins_end ON rota.logins USING btree (expires_at);

CREATE INDEX logins_key ON rota.logins USING btree (key_id);

ALTER TABLE ONLY rota.logins
    ADD CONSTRAINT logins_key_id_fkey FOREIGN KEY (key_id) REFERENCES rota.api_keys(id) ON DELETE CASCADE;



-- Table migrations

-- Applied migrations.
CREATE TABLE rota.migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY rota.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);



-- Table named_leases

-- Services of which one process runs at a time, and which process holds each by lease.
CREATE TABLE rota.named_leases (
    name text NOT NULL,
    owner uuid NOT NULL,
    -- Name of the holding process, for people.
    holder text NOT NULL,
    -- Rises when the owner changes; a holder with an older epoch writes nothing.
    epoch bigint DEFAULT 1 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT named_leases_holder_check CHECK (((length(holder) >= 1) AND (length(holder) <= 200))),
    CONSTRAINT named_leases_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
)
WITH (fillfactor='50');
ALTER TABLE ONLY rota.named_leases
    ADD CONSTRAINT named_leases_pkey PRIMARY KEY (name);



-- Table notifications

-- Messages about incidents: exactly one row per message and channel, whatever number of processes
-- plans it. The id is derived, and receivers get it as an idempotency key.
CREATE TABLE rota.notifications (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    group_id uuid,
    episode integer DEFAULT 0 NOT NULL,
    channel text NOT NULL,
    kind text NOT NULL,
    severity text NOT NULL,
    -- sending: a process sends it until lease_until. digested: a digest counts it instead.
    -- suppressed: not sent, and error says why.
    state text DEFAULT 'pending'::text NOT NULL,
    -- Equal for all messages of one episode of a group.
    dedup_key text NOT NULL,
    -- The message without secrets: title and items.
    content jsonb NOT NULL,
    incident_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    incident_count integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    next_at timestamp with time zone,
    lease_until timestamp with time zone,
    -- Number of attempts; a sender with an older number records nothing.
    attempts integer DEFAULT 0 NOT NULL,
    sent_at timestamp with time zone,
    error text,
    digest_id uuid,
    CONSTRAINT notifications_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'sending'::text, 'sent'::text, 'failed'::text, 'suppressed'::text, 'digested'::text])))
)
WITH (fillfactor='70');
ALTER TABLE ONLY rota.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (id);

CREATE INDEX notifications_created ON rota.notifications USING btree (created_at);

CREATE INDEX notifications_group ON rota.notifications USING btree (group_id, episode);

CREATE INDEX notifications_recent ON rota.notifications USING btree (tenant_id, created_at DESC, id DESC);

CREATE INDEX notifications_thread ON rota.notifications USING btree (channel, dedup_key);

CREATE INDEX notifications_waiting ON rota.notifications USING btree (channel, next_at) WHERE (state = ANY (ARRAY['pending'::text, 'sending'::text]));



-- Table ping_runs

-- External runs of pings that have begun and not ended yet, by the run id that the sender chose.
CREATE TABLE rota.ping_runs (
    ping_id uuid NOT NULL,
    -- The `rid` of the request; empty without one.
    rid text NOT NULL,
    tenant_id integer NOT NULL,
    run_id uuid NOT NULL,
    session_id uuid NOT NULL,
    began_at timestamp with time zone NOT NULL,
    CONSTRAINT ping_runs_rid_check CHECK ((length(rid) <= 64))
);
ALTER TABLE ONLY rota.ping_runs
    ADD CONSTRAINT ping_runs_pkey PRIMARY KEY (ping_id, rid);

ALTER TABLE ONLY rota.ping_runs
    ADD CONSTRAINT ping_runs_ping_id_fkey FOREIGN KEY (ping_id) REFERENCES rota.pings(id) ON DELETE CASCADE;



-- Table pings

-- Ping URLs: work outside of Rota reports to them when it begins, succeeds or fails.
CREATE TABLE rota.pings (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    -- SHA-256 of the token in the URL.
    digest bytea NOT NULL,
    -- The first characters of the token, shown in lists so that people can tell URLs apart.
    handle text NOT NULL,
    -- When a success is expected: a schedule document.
    schedule jsonb NOT NULL,
    -- How long a success may be late, and how long the work may take once it has begun.
    grace interval NOT NULL,
    -- How incidents of the ping are reported.
    policy jsonb DEFAULT '{}'::jsonb NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    pinged_at timestamp with time zone,
    succeeded_at timestamp with time zone,
    failed_at timestamp with time zone,
    -- Start of the work that has not ended yet.
    began_at timestamp with time zone,
    -- When a missing success becomes an incident.
    overdue_at timestamp with time zone,
    -- When a scheduler looks at the ping. Null: no need.
    check_at timestamp with time zone,
    -- Whether the last check found a violation.
    is_down boolean DEFAULT false NOT NULL,
    CONSTRAINT pings_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT pings_handle_check CHECK ((length(handle) = 8)),
    CONSTRAINT pings_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
)
WITH (fillfactor='70');
ALTER TABLE ONLY rota.pings
    ADD CONSTRAINT pings_digest_key UNIQUE (digest);

ALTER TABLE ONLY rota.pings
    ADD CONSTRAINT pings_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rota.pings
    ADD CONSTRAINT pings_tenant_id_name_key UNIQUE (tenant_id, name);

CREATE INDEX pings_due ON rota.pings USING btree (check_at) WHERE (check_at IS NOT NULL);

ALTER TABLE ONLY rota.pings
    ADD CONSTRAINT pings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES rota.tenants(id) ON DELETE CASCADE;



-- Table policies

-- Policies (retries, timeouts, …), shared by all rows that use the same one. A row never changes.
CREATE TABLE rota.policies (
    id integer NOT NULL,
    digest bytea NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    unused_since timestamp with time zone,
    CONSTRAINT policies_digest_check CHECK ((length(digest) = 16))
);
ALTER TABLE rota.policies ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.policies_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.policies
    ADD CONSTRAINT policies_digest_key UNIQUE (digest);

ALTER TABLE ONLY rota.policies
    ADD CONSTRAINT policies_pkey PRIMARY KEY (id);



-- Table queues

-- Queues. A pause or limit here applies to all tenants.
CREATE TABLE rota.queues (
    id integer NOT NULL,
    name text NOT NULL,
    paused_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    -- The limit that all runs of the queue pass.
    gate_id integer,
    paused_by text,
    -- The tenant whose submission created the name; null for names declared by workers.
    made_by integer,
    unused_since timestamp with time zone,
    CONSTRAINT queues_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE rota.queues ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.queues_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.queues
    ADD CONSTRAINT queues_name_key UNIQUE (name);

ALTER TABLE ONLY rota.queues
    ADD CONSTRAINT queues_pkey PRIMARY KEY (id);

CREATE INDEX queues_paused ON rota.queues USING btree (id) WHERE (paused_at IS NOT NULL);



-- Table relays

-- How far the event relay and each sink have read the rows that became events.
CREATE TABLE rota.relays (
    name text NOT NULL,
    -- System identifier and timeline of the server that wrote the position. If they change, the
    -- reader goes back ten minutes.
    server text NOT NULL,
    -- Every row with an earlier time was handed over, or can no longer be committed.
    since timestamp with time zone NOT NULL,
    -- Every row that was committed before this time was handed over. The lag is rota.now() minus
    -- this.
    complete_until timestamp with time zone NOT NULL,
    -- Rises with every move; a move names the number it expects.
    moves bigint DEFAULT 0 NOT NULL,
    -- How many events were handed over so far.
    events bigint DEFAULT 0 NOT NULL,
    CONSTRAINT relays_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT relays_server_check CHECK (((length(server) >= 1) AND (length(server) <= 200)))
)
WITH (fillfactor='50');
ALTER TABLE ONLY rota.relays
    ADD CONSTRAINT relays_pkey PRIMARY KEY (name);



-- Table replays

-- Runs that were created from a finished run.
CREATE TABLE rota.replays (
    run_id uuid NOT NULL,
    -- The finished run.
    replay_of uuid NOT NULL,
    tenant_id integer NOT NULL,
    asked_by text NOT NULL,
    asked_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY rota.replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (run_id);

CREATE INDEX replays_of ON rota.replays USING btree (replay_of);



-- Table role_grants

-- What the database roles of services (API, scheduler) and workers may do with each table, in the
-- words of GRANT.
CREATE TABLE rota.role_grants (
    relation text NOT NULL,
    service text NOT NULL,
    worker text NOT NULL
);
ALTER TABLE ONLY rota.role_grants
    ADD CONSTRAINT role_grants_pkey PRIMARY KEY (relation);



-- Table run_logs

-- Captured output of attempts. One partition per day, by the time in the run id.
CREATE TABLE rota.run_logs (
    run_id uuid NOT NULL,
    attempt smallint NOT NULL,
    -- Position in the output of the attempt.
    seq integer NOT NULL,
    stream smallint NOT NULL,
    logged_at timestamp with time zone NOT NULL,
    chunk bytea NOT NULL
)
PARTITION BY RANGE (run_id);
ALTER TABLE ONLY rota.run_logs
    ADD CONSTRAINT run_logs_pkey PRIMARY KEY (run_id, attempt, seq);



-- Table run_notes

-- Checkpoints: the last progress and the last checkpoint of an attempt. A later attempt continues
-- from it.
CREATE TABLE rota.run_notes (
    run_id uuid NOT NULL,
    attempt smallint NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    progress real,
    message text,
    checkpoint jsonb,
    CONSTRAINT run_notes_progress_check CHECK (((progress >= (0)::double precision) AND (progress <= (1)::double precision)))
)
PARTITION BY RANGE (run_id);
ALTER TABLE ONLY rota.run_notes
    ADD CONSTRAINT run_notes_pkey PRIMARY KEY (run_id);



-- Table runs

-- Finished runs, and ticks that did not become a run. Rows are only added. One partition per day,
-- by the time in the id.
CREATE TABLE rota.runs (
    id uuid NOT NULL,
    job_id uuid NOT NULL,
    session_id uuid,
    scheduled_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone NOT NULL,
    tenant_id integer NOT NULL,
    queue_id integer NOT NULL,
    kind_id integer NOT NULL,
    policy_id integer NOT NULL,
    job_version integer NOT NULL,
    state rota.run_state NOT NULL,
    -- State before the final one; null for a tick that never became a run.
    left_state rota.run_state,
    trigger rota.run_trigger NOT NULL,
    priority smallint NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    failures smallint DEFAULT 0 NOT NULL,
    losses smallint DEFAULT 0 NOT NULL,
    payload jsonb,
    result jsonb,
    -- {type, message, …} of the last failure, or {code, …} of why the tick did not run.
    reason jsonb,
    gates integer[],
    -- When a person dropped the dead letter from the list.
    dropped_at timestamp with time zone,
    graph_run_id uuid,
    step integer,
    member integer,
    name text,
    labels jsonb,
    user_id text,
    submitter text,
    address text
)
PARTITION BY RANGE (id);
ALTER TABLE ONLY rota.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);

CREATE INDEX runs_bad ON ONLY rota.runs USING btree (tenant_id, id) WHERE (state = ANY (ARRAY['dead'::rota.run_state, 'lost'::rota.run_state, 'quarantined'::rota.run_state]));

CREATE INDEX runs_bad_members ON ONLY rota.runs USING btree (id) WHERE ((member IS NOT NULL) AND (state <> 'succeeded'::rota.run_state));

CREATE INDEX runs_ended ON ONLY rota.runs USING brin (finished_at) WITH (pages_per_range='64');

CREATE INDEX runs_ended_late ON ONLY rota.runs USING btree (tenant_id, finished_at) WHERE ((finished_at - LEAST(scheduled_at, created_at)) > '01:00:00'::interval);

CREATE INDEX runs_job ON ONLY rota.runs USING btree (job_id, id) WHERE (trigger <> 'graph'::rota.run_trigger);

CREATE INDEX runs_tenant ON ONLY rota.runs USING btree (tenant_id, id);

CREATE TRIGGER runs_births BEFORE INSERT ON rota.runs FOR EACH ROW WHEN (((new.left_state IS NULL) AND (new.state <> ALL (ARRAY['skipped'::rota.run_state, 'missed'::rota.run_state, 'coalesced'::rota.run_state])))) EXECUTE FUNCTION rota.refuse_move('run');

CREATE TRIGGER runs_final BEFORE UPDATE OF state ON rota.runs FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION rota.refuse_move('run');

CREATE TRIGGER runs_moves BEFORE INSERT ON rota.runs FOR EACH ROW WHEN (((new.left_state IS NOT NULL) AND ((((((((((((((((((new.left_state <> 'running'::rota.run_state) OR (new.state <> 'succeeded'::rota.run_state)) AND ((new.left_state <> 'blocked'::rota.run_state) OR (new.state <> 'cancelled'::rota.run_state))) AND ((new.left_state <> 'blocked'::rota.run_state) OR (new.state <> 'dead'::rota.run_state))) AND ((new.left_state <> 'blocked'::rota.run_state) OR (new.state <> 'expired'::rota.run_state))) AND ((new.left_state <> 'blocked'::rota.run_state) OR (new.state <> 'skipped'::rota.run_state))) AND ((new.left_state <> 'blocked'::rota.run_state) OR (new.state <> 'succeeded'::rota.run_state))) AND ((new.left_state <> 'cancelling'::rota.run_state) OR (new.state <> 'cancelled'::rota.run_state))) AND ((new.left_state <> 'queued'::rota.run_state) OR (new.state <> 'cancelled'::rota.run_state))) AND ((new.left_state <> 'queued'::rota.run_state) OR (new.state <> 'expired'::rota.run_state))) AND ((new.left_state <> 'queued'::rota.run_state) OR (new.state <> 'skipped'::rota.run_state))) AND ((new.left_state <> 'retrying'::rota.run_state) OR (new.state <> 'cancelled'::rota.run_state))) AND ((new.left_state <> 'retrying'::rota.run_state) OR (new.state <> 'expired'::rota.run_state))) AND ((new.left_state <> 'running'::rota.run_state) OR (new.state <> 'cancelled'::rota.run_state))) AND ((new.left_state <> 'running'::rota.run_state) OR (new.state <> 'dead'::rota.run_state))) AND ((new.left_state <> 'running'::rota.run_state) OR (new.state <> 'expired'::rota.run_state))) AND ((new.left_state <> 'running'::rota.run_state) OR (new.state <> 'lost'::rota.run_state))) AND ((new.left_state <> 'running'::rota.run_state) OR (new.state <> 'quarantined'::rota.run_state))))) EXECUTE FUNCTION rota.refuse_move('run', 'left');



-- Table scheduled_runs

-- Submissions that are due later. The scheduler that holds the shard moves each row to live_runs
-- when it is due.
CREATE TABLE rota.scheduled_runs (
    tenant_id integer NOT NULL,
    id uuid NOT NULL,
    -- Set only for one-time jobs of an earlier release, whose job id and run id differ.
    job_id uuid,
    shard smallint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    queue_id integer NOT NULL,
    kind_id integer NOT NULL,
    policy_id integer NOT NULL,
    priority smallint NOT NULL,
    guarantee rota.guarantee NOT NULL,
    -- Deadline of the run, counted from its due time. Null: none.
    deadline interval,
    gates integer[],
    payload jsonb,
    name text,
    labels jsonb,
    user_id text,
    submitter text,
    address text,
    CONSTRAINT scheduled_runs_priority_check CHECK (((priority >= 0) AND (priority <= 9))),
    CONSTRAINT scheduled_runs_shard_check CHECK (((shard >= 0) AND (shard <= 127)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000');
ALTER TABLE ONLY rota.scheduled_runs
    ADD CONSTRAINT scheduled_runs_pkey PRIMARY KEY (tenant_id, id);

CREATE INDEX scheduled_runs_due ON rota.scheduled_runs USING btree (shard, due_at);

CREATE INDEX scheduled_runs_job ON rota.scheduled_runs USING btree (tenant_id, job_id) WHERE (job_id IS NOT NULL);

CREATE INDEX scheduled_runs_user ON rota.scheduled_runs USING btree (tenant_id, user_id, id) WHERE (user_id IS NOT NULL);



-- Table schedules

-- Schedules, shared by all cursors that use the same one. A row never changes.
CREATE TABLE rota.schedules (
    id integer NOT NULL,
    digest bytea NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    unused_since timestamp with time zone,
    CONSTRAINT schedules_digest_check CHECK ((length(digest) = 16))
);
ALTER TABLE rota.schedules ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.schedules_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.schedules
    ADD CONSTRAINT schedules_digest_key UNIQUE (digest);

ALTER TABLE ONLY rota.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);



-- Table secrets

-- Secrets of tenants, encrypted with the master key `key_id`.
CREATE TABLE rota.secrets (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    key_id text NOT NULL,
    ciphertext bytea NOT NULL,
    updated_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    CONSTRAINT secrets_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE ONLY rota.secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY rota.secrets
    ADD CONSTRAINT secrets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES rota.tenants(id);



-- Table sessions

-- Processes: one row per start of a worker, scheduler or API, kept alive by heartbeats.
CREATE TABLE rota.sessions (
    id uuid NOT NULL,
    role rota.session_role NOT NULL,
    name text NOT NULL,
    queues integer[] DEFAULT '{}'::integer[] NOT NULL,
    kinds integer[] DEFAULT '{}'::integer[] NOT NULL,
    slots integer DEFAULT 0 NOT NULL,
    -- Runs that the process really executes, as of its last heartbeat.
    running uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    -- The process finishes its runs and takes no new ones.
    draining boolean DEFAULT false NOT NULL,
    started_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    -- Time of the last heartbeat.
    beat_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    -- End of the lease.
    expires_at timestamp with time zone NOT NULL,
    -- Tenants whose runs a worker takes: {"tenants": [names], "queues": {queue id: [names]}}; `*`
    -- is every tenant.
    serves jsonb,
    -- URL of the observability listener. Null: the listener is off.
    observe_url text,
    -- Version of Rota that the process runs. Null: an earlier release that stored none.
    version text,
    CONSTRAINT sessions_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT sessions_slots_check CHECK ((slots >= 0))
)
WITH (fillfactor='50');
ALTER TABLE ONLY rota.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);



-- Table shards

-- The 128 shards of the schedule and which scheduler holds each by lease.
CREATE TABLE rota.shards (
    id smallint NOT NULL,
    -- Session of the scheduler.
    owner uuid,
    -- Rises when the owner changes; firing with an older epoch changes nothing.
    epoch bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT shards_id_check CHECK (((id >= 0) AND (id <= 127)))
)
WITH (fillfactor='50');
ALTER TABLE ONLY rota.shards
    ADD CONSTRAINT shards_pkey PRIMARY KEY (id);



-- Table silences

-- Times in which messages about matching incidents are held back; checks go on.
CREATE TABLE rota.silences (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    -- Job, step, task, queue and labels that must match.
    match jsonb NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    -- If set, the silence holds only on the days of this calendar.
    calendar text,
    reason text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    ended_by text,
    CONSTRAINT silences_check CHECK ((ends_at >= starts_at)),
    CONSTRAINT silences_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 1000)))
);
ALTER TABLE ONLY rota.silences
    ADD CONSTRAINT silences_pkey PRIMARY KEY (id);

CREATE INDEX silences_end ON rota.silences USING btree (ends_at);

CREATE INDEX silences_tenant ON rota.silences USING btree (tenant_id, ends_at);



-- Table sources

-- Event sources: which process reads each, how far it got, and its last error.
CREATE TABLE rota.sources (
    tenant_id integer NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    "position" text,
    owner uuid NOT NULL,
    -- Name of the reading process, for people.
    reader text NOT NULL,
    -- Rises when the owner changes; a reader with an older epoch writes nothing.
    epoch bigint DEFAULT 1 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    -- Events accepted so far.
    taken bigint DEFAULT 0 NOT NULL,
    -- Events refused so far.
    refused bigint DEFAULT 0 NOT NULL,
    lag bigint,
    -- When the source last responded.
    read_at timestamp with time zone,
    -- When the source last delivered an event.
    taken_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    error text,
    error_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    CONSTRAINT sources_error_check CHECK ((length(error) <= 2000)),
    CONSTRAINT sources_failures_check CHECK ((failures >= 0)),
    CONSTRAINT sources_kind_check CHECK (((length(kind) >= 1) AND (length(kind) <= 63))),
    CONSTRAINT sources_lag_check CHECK ((lag >= 0)),
    CONSTRAINT sources_name_check CHECK (((length(name) >= 1) AND (length(name) <= 63))),
    CONSTRAINT sources_position_check CHECK ((length("position") <= 65536)),
    CONSTRAINT sources_reader_check CHECK (((length(reader) >= 1) AND (length(reader) <= 200))),
    CONSTRAINT sources_refused_check CHECK ((refused >= 0)),
    CONSTRAINT sources_taken_check CHECK ((taken >= 0))
)
WITH (fillfactor='50');
ALTER TABLE ONLY rota.sources
    ADD CONSTRAINT sources_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY rota.sources
    ADD CONSTRAINT sources_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES rota.tenants(id);



-- Table step_marks

-- Step completions: the statement that ends a step run inserts one, and the transaction that
-- advances the graph run deletes it. So a wake-up cannot be lost.
CREATE TABLE rota.step_marks (
    id bigint NOT NULL,
    tenant_id integer NOT NULL,
    graph_run_id uuid NOT NULL,
    -- Number of the step. -1: the graph run itself was ended, cancel its steps. -2: advance the
    -- graph run, because it has just been expanded or resumed.
    step integer NOT NULL,
    state rota.run_state,
    -- How many runs of the step ended.
    ended integer DEFAULT 1 NOT NULL,
    -- How many of them are members of a map.
    members integer DEFAULT 0 NOT NULL,
    -- One of the runs, to read its result or error from.
    run_id uuid
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
ALTER TABLE rota.step_marks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.step_marks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.step_marks
    ADD CONSTRAINT step_marks_pkey PRIMARY KEY (graph_run_id, id);



-- Table tenant_queues

-- Queues of a tenant. A pause or limit here applies to this tenant only.
CREATE TABLE rota.tenant_queues (
    tenant_id integer NOT NULL,
    queue_id integer NOT NULL,
    gate_id integer,
    paused_at timestamp with time zone,
    paused_by text,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL
);
ALTER TABLE ONLY rota.tenant_queues
    ADD CONSTRAINT tenant_queues_pkey PRIMARY KEY (tenant_id, queue_id);

CREATE INDEX tenant_queues_gated ON rota.tenant_queues USING btree (queue_id, tenant_id) WHERE (gate_id IS NOT NULL);

CREATE INDEX tenant_queues_paused ON rota.tenant_queues USING btree (queue_id, tenant_id) WHERE (paused_at IS NOT NULL);

ALTER TABLE ONLY rota.tenant_queues
    ADD CONSTRAINT tenant_queues_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES rota.queues(id);

ALTER TABLE ONLY rota.tenant_queues
    ADD CONSTRAINT tenant_queues_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES rota.tenants(id) ON DELETE CASCADE;



-- Table tenants

-- Tenants.
CREATE TABLE rota.tenants (
    id integer NOT NULL,
    name text NOT NULL,
    -- Share of the tenant when several wait for the same workers.
    weight smallint DEFAULT 1 NOT NULL,
    quotas jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    -- The limit that all runs of the tenant pass.
    gate_id integer,
    -- Default quotas that are nearly used up, so that each submission must be counted. Maintenance
    -- writes them.
    default_quotas jsonb DEFAULT '{}'::jsonb NOT NULL,
    -- When usage was last measured.
    measured_at timestamp with time zone,
    CONSTRAINT tenants_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT tenants_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
);
ALTER TABLE rota.tenants ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rota.tenants_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY rota.tenants
    ADD CONSTRAINT tenants_name_key UNIQUE (name);

ALTER TABLE ONLY rota.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);

CREATE INDEX tenants_guarded ON rota.tenants USING btree (id) WHERE ((gate_id IS NOT NULL) OR (weight <> 1));

CREATE INDEX tenants_paused ON rota.tenants USING btree (id) WHERE (paused_at IS NOT NULL);



-- Table tzdata

-- One row: the time zone database that future ticks were computed with.
CREATE TABLE rota.tzdata (
    only_row boolean DEFAULT true NOT NULL,
    version text,
    -- The version that is being applied, if any.
    target text,
    "position" uuid,
    -- How far the update has come.
    looked_at bigint DEFAULT 0 NOT NULL,
    moved bigint DEFAULT 0 NOT NULL,
    -- When a process with older rules was last seen.
    older_seen_at timestamp with time zone,
    CONSTRAINT tzdata_only_row_check CHECK (only_row),
    CONSTRAINT tzdata_target_check CHECK (((length(target) >= 1) AND (length(target) <= 32))),
    CONSTRAINT tzdata_version_check CHECK (((length(version) >= 1) AND (length(version) <= 32)))
);
ALTER TABLE ONLY rota.tzdata
    ADD CONSTRAINT tzdata_pkey PRIMARY KEY (only_row);



-- Table unique_keys

-- Which job or run holds a unique key.
CREATE TABLE rota.unique_keys (
    tenant_id integer NOT NULL,
    -- Hash of the key.
    digest bytea NOT NULL,
    job_id uuid NOT NULL,
    -- Null while the holder is a job without a run.
    run_id uuid,
    taken_at timestamp with time zone NOT NULL,
    -- The key is held at least until then.
    held_until timestamp with time zone NOT NULL,
    CONSTRAINT unique_keys_digest_check CHECK ((length(digest) = 16))
)
WITH (fillfactor='85');
ALTER TABLE ONLY rota.unique_keys
    ADD CONSTRAINT unique_keys_pkey PRIMARY KEY (tenant_id, digest);

CREATE INDEX unique_keys_age ON rota.unique_keys USING btree (held_until);



-- Table watches

-- What evaluations remember: the next check of each clock condition, and subjects that are not
-- healthy.
CREATE TABLE rota.watches (
    expectation_id uuid NOT NULL,
    -- Kind and id of the subject: job:<hex id>.
    subject_key text NOT NULL,
    tenant_id integer NOT NULL,
    job_id uuid,
    -- Code of the condition, such as finish_by.
    condition text NOT NULL,
    -- The expectation as of the last change of rule or job: name, condition, policy; and the name
    -- of the subject.
    definition jsonb NOT NULL,
    -- ok: met. pending: something is bad, not enough for a violation. firing: violated. unknown:
    -- lateness cannot be judged, because the relay or the schedulers are behind.
    state text DEFAULT 'ok'::text NOT NULL,
    -- When the state began.
    since timestamp with time zone NOT NULL,
    -- When a scheduler checks; null: the watch rests, or waits for the end of a run.
    next_check_at timestamp with time zone,
    -- The next tick to check.
    tick_at timestamp with time zone,
    -- When the run of that tick is due, after jitter.
    due_at timestamp with time zone,
    -- The last violated tick; its run may still start or succeed, which meets the expectation.
    late_tick_at timestamp with time zone,
    -- The run that the last violation is about.
    run_id uuid,
    -- How many bad results there were in a row.
    streak integer DEFAULT 0 NOT NULL,
    -- How many times in a row the expectation was met since the last violation.
    met_in_row smallint DEFAULT 0 NOT NULL,
    -- Since when the subject is watched without a pause.
    watched_since timestamp with time zone NOT NULL,
    -- Version of the job for which tick and next check were computed.
    job_version integer,
    -- What else a condition needs, by condition.
    evidence jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT watches_condition_check CHECK (((length(condition) >= 1) AND (length(condition) <= 50))),
    CONSTRAINT watches_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'pending'::text, 'firing'::text, 'unknown'::text]))),
    CONSTRAINT watches_subject_key_check CHECK ((length(subject_key) <= 600))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000');
ALTER TABLE ONLY rota.watches
    ADD CONSTRAINT watches_pkey PRIMARY KEY (expectation_id, subject_key);

CREATE INDEX watches_due ON rota.watches USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);

CREATE INDEX watches_job ON rota.watches USING btree (job_id) WHERE (job_id IS NOT NULL);

CREATE INDEX watches_unhealthy ON rota.watches USING btree (tenant_id) WHERE (state <> 'ok'::text);



-- Table webhook_deliveries

-- One event for one endpoint: its state and its attempts. Kept for 14 days.
CREATE TABLE rota.webhook_deliveries (
    -- Derived from endpoint and event.
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    -- A pending delivery of a disabled endpoint is held: it waits until the endpoint is enabled.
    state text DEFAULT 'pending'::text NOT NULL,
    -- Number of the newest attempt; an older attempt cannot record its result.
    attempts integer DEFAULT 0 NOT NULL,
    -- Position on the retry schedule; starts at 0 again when the delivery is replayed.
    retries smallint DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    -- An attempt is in flight until then at the latest; null if none is.
    leased_until timestamp with time zone,
    -- The sender that holds the lease.
    leased_by uuid,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    finished_at timestamp with time zone,
    -- HTTP status of the last attempt, if any.
    status smallint,
    error text,
    -- Beginning of the response body of the last attempt.
    response text,
    -- The last attempts: time, status, error and duration in milliseconds.
    history jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'dropped'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='2000');
ALTER TABLE ONLY rota.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_endpoint_id_event_id_key UNIQUE (endpoint_id, event_id);

ALTER TABLE ONLY rota.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);

CREATE INDEX webhook_deliveries_created ON rota.webhook_deliveries USING btree (created_at);

CREATE INDEX webhook_deliveries_due ON rota.webhook_deliveries USING btree (endpoint_id, next_attempt_at) WHERE (state = 'pending'::text);

CREATE INDEX webhook_deliveries_leased ON rota.webhook_deliveries USING btree (endpoint_id, leased_until) WHERE (leased_until IS NOT NULL);



-- Table webhook_endpoints

-- URLs that get events as signed requests, with their subscription and health.
CREATE TABLE rota.webhook_endpoints (
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    -- Event types or patterns such as run.*; an event must match one of them.
    events text[] NOT NULL,
    -- Conditions that events must meet: job, task, queue, labels, severity.
    filter jsonb DEFAULT '{}'::jsonb NOT NULL,
    -- Fields that are sent in addition: payload, result.
    include text[] DEFAULT '{}'::text[] NOT NULL,
    format text DEFAULT 'standard'::text NOT NULL,
    allow_http boolean DEFAULT false NOT NULL,
    state text DEFAULT 'enabled'::text NOT NULL,
    -- Who disabled it: a user (manual), a response 410 (gone), or Rota after days of failures.
    disabled_reason text,
    disabled_at timestamp with time zone,
    -- Rises with every change by a user, for If-Match.
    version integer DEFAULT 1 NOT NULL,
    secret_version integer DEFAULT 1 NOT NULL,
    key_id text NOT NULL,
    -- The signing secret, encrypted with the master key `key_id`.
    ciphertext bytea NOT NULL,
    -- The previous secret, which signs as well until `former_until`.
    former bytea,
    former_until timestamp with time zone,
    -- Deliveries in flight at a time. Halves when the endpoint is overloaded, recovers by one.
    concurrency smallint DEFAULT 10 NOT NULL,
    -- Failed attempts since the last success.
    failures integer DEFAULT 0 NOT NULL,
    -- First failed attempt since the last success; null while the endpoint works.
    failing_since timestamp with time zone,
    -- While the endpoint is failing, when the next single attempt may be sent.
    probe_at timestamp with time zone,
    -- Last success, updated at most once a minute while the endpoint works.
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone,
    last_error text,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    created_by text NOT NULL,
    updated_at timestamp with time zone DEFAULT rota.now() NOT NULL,
    CONSTRAINT webhook_endpoints_concurrency_check CHECK (((concurrency >= 1) AND (concurrency <= 100))),
    CONSTRAINT webhook_endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['manual'::text, 'gone'::text, 'failing'::text]))),
    CONSTRAINT webhook_endpoints_format_check CHECK ((format = ANY (ARRAY['standard'::text, 'cloudevents'::text]))),
    CONSTRAINT webhook_endpoints_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT webhook_endpoints_state_check CHECK ((state = ANY (ARRAY['enabled'::text, 'disabled'::text]))),
    CONSTRAINT webhook_endpoints_url_check CHECK (((length(url) >= 1) AND (length(url) <= 4000)))
)
WITH (fillfactor='70');
ALTER TABLE ONLY rota.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rota.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_tenant_id_name_key UNIQUE (tenant_id, name);



-- Table webhook_events

-- Events that at least one webhook endpoint gets; each body is stored once.
CREATE TABLE rota.webhook_events (
    -- Derived from the row that the event describes; it is the webhook-id of every request.
    id uuid NOT NULL,
    tenant_id integer NOT NULL,
    type text NOT NULL,
    at timestamp with time zone NOT NULL,
    subject text,
    data jsonb NOT NULL,
    -- Payload and result of the run, only if an endpoint includes them.
    extras jsonb,
    created_at timestamp with time zone DEFAULT rota.now() NOT NULL
);
ALTER TABLE ONLY rota.webhook_events
    ADD CONSTRAINT webhook_events_pkey PRIMARY KEY (id);

CREATE INDEX webhook_events_created ON rota.webhook_events USING btree (created_at);



-- Table zone_rules

-- Rules of each time zone (TZif) in that version, and in the previous one where they differ.
CREATE TABLE rota.zone_rules (
    zone text NOT NULL,
    rules bytea NOT NULL,
    previous bytea,
    CONSTRAINT zone_rules_zone_check CHECK (((length(zone) >= 1) AND (length(zone) <= 64)))
);
ALTER TABLE ONLY rota.zone_rules
    ADD CONSTRAINT zone_rules_pkey PRIMARY KEY (zone);



-- Functions

CREATE FUNCTION rota.definition_used(job uuid, job_version integer) RETURNS TABLE(number integer, name text, payload jsonb, labels jsonb, graph_id integer)
    LANGUAGE sql STABLE
    AS $$
    select v.number, v.name, v.payload, v.labels, v.graph_id
    from (
        select
            kept.number, kept.name, kept.payload, kept.labels, kept.graph_id, kept.from_version
        from rota.job_versions as kept
        where
            kept.job_id = job
            and kept.until_version >= job_version
        order by kept.until_version
        limit 1
    ) as v
    where v.from_version <= job_version
    union all
    select j.version - j.version_skips, j.name, j.payload, j.labels, j.graph_id
    from rota.jobs as j
    where
        j.id = job
        and job_version >= coalesce(
            j.defined_since, case when j.version - j.version_skips = 1 then 1 else j.version end
        )
    limit 1
$$;

CREATE FUNCTION rota.drop_audit_month(day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    next constant timestamptz := (date_trunc('month', day::timestamp) + interval '1 month')
        at time zone 'UTC';
begin
    if next > date_trunc('day', rota.now() at time zone 'UTC') at time zone 'UTC' then
        raise exception 'the month of % is not over', day using errcode = '22023';
    end if;
    execute format('drop table if exists rota.%I', 'audit_' || to_char(day, 'YYYYMM'));
    perform set_config('rota.retention', 'on', true);
    delete from only rota.audit as a
    where
        a.id in (
            select o.id from only rota.audit as o
            where o.at < next
            order by o.id
            limit 500
        );
    perform set_config('rota.retention', '', true);
end
$$;

CREATE FUNCTION rota.drop_partition(parent text, day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if parent = 'audit' then
        perform rota.drop_audit_month(day);
        return;
    end if;
    if parent not in (
        'runs', 'attempts', 'run_logs', 'run_notes', 'graph_runs', 'graph_maps', 'graph_items',
        'events'
    ) then
        raise exception 'rota.% has no partitions by day', parent using errcode = '22023';
    end if;
    if day >= (rota.now() at time zone 'UTC')::date then
        raise exception 'the day % is not over', day using errcode = '22023';
    end if;
    execute format('drop table if exists rota.%I', parent || to_char(day, '_YYYYMMDD'));
end
$$;

CREATE FUNCTION rota.error_fingerprint(reason jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select lpad(to_hex(hashtextextended(
        coalesce(reason ->> 'type', reason ->> 'code', '')
        || e'\n'
        || regexp_replace(
            left(coalesce(reason ->> 'message', ''), 300),
            '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
            || '|\m0x[0-9a-f]+|\m[0-9a-f]{8,}\M|\m[0-9a-f]*[0-9][0-9a-f]*\M|[0-9]+',
            '#',
            'gi'
        ),
        0
    )), 16, '0')
$$;

CREATE FUNCTION rota.failure_fingerprint(reason jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select case
        when coalesce(reason ->> 'frame', '') = '' then rota.error_fingerprint(reason)
        else lpad(to_hex(hashtextextended(
            rota.error_fingerprint(reason) || e'\n' || (reason ->> 'frame'), 0
        )), 16, '0')
    end
$$;

CREATE FUNCTION rota.full_xid(seen xid, near bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select
        near
        + ((seen::text::bigint - near) % 4294967296 + 4294967296 + 2147483648) % 4294967296
        - 2147483648
$$;

-- Grants what role_grants lists. Returns the statements that an administrator must run first.
CREATE FUNCTION rota.grant_roles() RETURNS SETOF text
    LANGUAGE plpgsql
    AS $$
declare
    role text;
    line record;
begin
    foreach role in array array['rota_api', 'rota_service', 'rota_worker'] loop
        begin
            if to_regrole(role) is null then
                execute format('create role %I nologin', role);
            end if;
        exception
            when duplicate_object or unique_violation then null;
            when insufficient_privilege then
                return next format('create role %s nologin;', role);
        end;
    end loop;
    -- An API steps down to rota_api for each request.
    if to_regrole('rota_api') is null or to_regrole('rota_service') is null then
        return next 'grant rota_api to rota_service;';
    elsif not pg_has_role('rota_service', 'rota_api', 'member') then
        begin
            grant rota_api to rota_service;
        exception
            when unique_violation then null;
            when insufficient_privilege then
                return next 'grant rota_api to rota_service;';
        end;
    end if;
    foreach role in array array['rota_service', 'rota_worker'] loop
        continue when to_regrole(role) is null;
        execute format('grant usage on schema rota to %I', role);
        if role = 'rota_service' then
            grant execute on function
            rota.make_partition(text, date),
            rota.drop_partition(text, date),
            rota.summarize_ranges(bigint)
            to rota_service;
        end if;
        for line in
            select
                g.relation,
                c.relrowsecurity as has_policies,
                case
                    when said.privileges = 'all' then 'select, insert, update, delete'
                    else said.privileges
                end as privileges
            from rota.role_grants as g
            cross join
                lateral (
                    select
                        case role
                            when 'rota_service' then g.service
                            else g.worker
                        end as privileges
                ) as said
            inner join pg_class as c
                on g.relation = c.relname and c.relnamespace = 'rota'::regnamespace
            order by g.relation
        loop
            execute format('revoke all on rota.%I from %I', line.relation, role);
            continue when line.privileges = '';
            execute format('grant %s on rota.%I to %I', line.privileges, line.relation, role);
            -- A constant costs nothing and bounds no plan: the planner drops it.
            if line.has_policies and not exists (
                select 1 from pg_policy
                where
                    polrelid = format('rota.%I', line.relation)::regclass
                    and polname = role || '_all_tenants'
            ) then
                execute format(
                    'create policy %I on rota.%I for all to %I using (true) with check (true)',
                    role || '_all_tenants', line.relation, role
                );
            end if;
        end loop;
    end loop;
end
$$;

CREATE FUNCTION rota.is_visible_run(wanted uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return exists (select 1 from rota.live_runs as r where r.id = wanted)
        or exists (select 1 from rota.runs as r where r.id = wanted);
end
$$;

-- Trigger: keeps the definition that an edit replaces in job_versions.
CREATE FUNCTION rota.keep_definition() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
    number constant integer := old.version - old.version_skips;
    since constant integer := coalesce(
        old.defined_since, case when number = 1 then 1 else old.version end
    );
begin
    if new.version - new.version_skips = number then
        new.defined_since := since;
        return new;
    end if;
    new.defined_since := new.version;
    insert into rota.job_versions (
        tenant_id, job_id, from_version, until_version, number, name, payload, labels,
        graph_id, definition, valid_from, valid_until
    )
    select
        old.tenant_id,
        old.id,
        since,
        old.version,
        number,
        old.name,
        old.payload,
        old.labels,
        old.graph_id,
        coalesce(p.body, '{}')
        || (
            to_jsonb(old)
            - array[
                'id', 'tenant_id', 'state', 'version', 'version_skips', 'defined_since',
                'kind_id', 'queue_id', 'policy_id', 'graph_id', 'held', 'paused_stretches',
                'created_at', 'updated_at'
            ]
        )
        || jsonb_build_object('kind', k.name, 'queue', q.name, 'graph', g.definition),
        coalesce(
            (
                select max(v.valid_until) from rota.job_versions as v
                where v.job_id = old.id
            ),
            old.created_at
        ),
        rota.now()
    from (select 1) as one
    left join rota.policies as p on p.id = old.policy_id
    left join rota.kinds as k on k.id = old.kind_id
    left join rota.queues as q on q.id = old.queue_id
    left join rota.graphs as g on g.id = old.graph_id
    on conflict (job_id, until_version) do nothing;
    return new;
end
$$;

-- Trigger: maintains event_types.
CREATE FUNCTION rota.keep_event_types() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
    wanted jsonb := new.schedule -> 'event';
begin
    if tg_op = 'UPDATE' then
        delete from rota.event_types as t
        where t.job_id = new.id;
    end if;
    if wanted is not null and new.state <> 'deleted' then
        insert into rota.event_types (tenant_id, type, job_id)
        select distinct
            new.tenant_id,
            coalesce(part ->> 'type', part #>> '{}'),
            new.id
        from jsonb_array_elements(
            case
                when jsonb_typeof(wanted) = 'string' then jsonb_build_array(wanted)
                when wanted ? 'all_of' then wanted -> 'all_of'
                else jsonb_build_array(wanted)
            end
        ) as part;
    end if;
    return null;
end
$$;

CREATE FUNCTION rota.keep_interned(relation text, wanted integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    case relation
        when 'kinds' then
            update rota.kinds set unused_since = null where id = wanted;
        when 'queues' then
            update rota.queues set unused_since = null where id = wanted;
        when 'policies' then
            update rota.policies set unused_since = null where id = wanted;
        when 'schedules' then
            update rota.schedules set unused_since = null where id = wanted;
        when 'graphs' then
            update rota.graphs set unused_since = null where id = wanted;
        when 'gates' then
            update rota.gates set unused_since = null where id = wanted;
        else raise exception 'rota.% has no interned rows', relation using errcode = '22023';
    end case;
    return found;
end
$$;

CREATE FUNCTION rota.make_audit_month(day date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    first constant timestamptz := date_trunc('month', day::timestamp) at time zone 'UTC';
    next constant timestamptz := (date_trunc('month', day::timestamp) + interval '1 month')
        at time zone 'UTC';
    month constant text := 'audit_' || to_char(day, 'YYYYMM');
begin
    -- One maker at a time; the others find it made.
    perform pg_advisory_xact_lock(hashtext('rota ' || month));
    if to_regclass('rota.' || month) is not null then
        return false;
    end if;
    execute format(
        'create table rota.%I (like rota.audit including defaults including indexes, '
        'check (at >= %L and at < %L)) inherits (rota.audit)',
        month, first, next
    );
    execute format('alter table rota.%I enable row level security', month);
    execute format(
        'create trigger audit_only_grows before update or delete or truncate on rota.%I '
        'for each statement execute function rota.refuse_rewriting()',
        month
    );
    return true;
end
$$;

CREATE FUNCTION rota.make_partition(parent text, day date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    -- An id begins with its time in milliseconds: 48 bits of 128.
    low constant uuid := (
        lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0')
        || repeat('0', 20)
    )::uuid;
    high constant uuid := (
        lpad(to_hex((extract(epoch from day::timestamp + '1 day') * 1000)::bigint), 12, '0')
        || repeat('0', 20)
    )::uuid;
    partition constant text := parent || to_char(day, '_YYYYMMDD');
    key text := 'run_id';
    room integer := 100;
begin
    if parent = 'audit' then
        return rota.make_audit_month(day);
    end if;
    case parent
        when 'runs', 'events' then key := 'id';
        -- Rows that change several times: with room beside them no index needs a new entry.
        when 'graph_runs' then room := 60;
        when 'graph_maps' then room := 50;
        when 'attempts', 'run_logs', 'run_notes', 'graph_items' then null;
        else raise exception 'rota.% has no partitions by day', parent using errcode = '22023';
    end case;
    -- One maker at a time; the others find it made.
    perform pg_advisory_xact_lock(hashtext('rota ' || partition));
    if to_regclass('rota.' || partition) is not null then
        return false;
    end if;
    execute format(
        'create table rota.%I (like rota.%I including all) with (fillfactor = %s)',
        partition, parent, room
    );
    execute format(
        'with strayed as (delete from rota.%I where %I >= %L and %I < %L returning *) '
        'insert into rota.%I select * from strayed',
        parent || '_rest', key, low, key, high, partition
    );
    execute format(
        'alter table rota.%I attach partition rota.%I for values from (%L) to (%L)',
        parent, partition, low, high
    );
    return true;
end
$$;

-- The current time. Tests replace it to move the clock.
CREATE FUNCTION rota.now() RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select coalesce(
        nullif(current_setting('rota.now', true), '')::timestamptz, statement_timestamp()
    )
$$;

-- Enables row-level security on every table with a tenant_id.
CREATE FUNCTION rota.raise_wall() RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
    walled record;
    ours constant text := $$= nullif(current_setting('rota.tenant', true), '')::integer$$;
    whose text;
begin
    if not exists (select 1 from pg_roles where rolname = 'rota_api') then
        raise notice 'there is no role rota_api, so the wall between tenants is not there';
        return;
    end if;
    grant usage on schema rota to rota_api;
    -- Names and bodies that all tenants share, and what the cluster is doing.
    grant select, insert on rota.queues, rota.kinds, rota.policies, rota.schedules to rota_api;
    grant select on rota.sessions, rota.shards, rota.ended_jobs to rota_api;
    for walled in
        select
            c.oid::regclass as name,
            c.relname,
            c.relrowsecurity as is_walled,
            a.attname as has_tenant
        from pg_class as c
        left join pg_attribute as a
            on c.oid = a.attrelid and a.attname = 'tenant_id' and not a.attisdropped
        where
            c.relnamespace = 'rota'::regnamespace
            and c.relkind in ('r', 'p')
            and not c.relispartition
            and (
                a.attname is not null
                or c.relname in ('tenants', 'attempts', 'run_logs', 'run_notes')
            )
    loop
        case
            when walled.relname = 'tenants' then
                whose := 'id ' || ours;
                execute format('grant select on %s to rota_api', walled.name);
            when walled.has_tenant is null then
                whose := 'rota.is_visible_run(run_id)';
                execute format('grant select, insert on %s to rota_api', walled.name);
                if walled.relname = 'attempts' then
                    -- Who requeued a run is signed there.
                    grant update (reason) on rota.attempts to rota_api;
                end if;
            when walled.relname = 'audit' then
                whose := 'tenant_id ' || ours;
                execute format('grant select, insert on %s to rota_api', walled.name);
            when walled.relname = 'api_keys' then
                -- Keys are found by their digest before anybody knows the tenant, by the owner.
                -- Keys of the platform are out of sight here, and cannot be made or revoked.
                whose := $$role <> 'platform' and tenant_id $$ || ours;
                grant insert, update (revoked_at, used_at) on rota.api_keys to rota_api;
                grant select (
                    id, tenant_id, name, handle, role, user_id, created_at, expires_at,
                    revoked_at, used_at
                ) on rota.api_keys to rota_api;
            when walled.relname = 'secrets' then
                -- Written and never read: only a worker opens one.
                whose := 'tenant_id ' || ours;
                grant insert, update, delete on rota.secrets to rota_api;
                grant select (tenant_id, name, version, updated_at) on rota.secrets to rota_api;
            else
                whose := 'tenant_id ' || ours;
                execute format(
                    'grant select, insert, update, delete on %s to rota_api', walled.name
                );
        end case;
        if not walled.is_walled then
            execute format('alter table %s enable row level security', walled.name);
        end if;
        if not exists (
            select 1 from pg_policy
            where polrelid = walled.name and polname = 'tenant_wall'
        ) then
            execute format(
                'create policy tenant_wall on %s for all to rota_api using (%s) with check (%s)',
                walled.name, whose, whose
            );
        end if;
    end loop;
    -- Gates of queues belong to no tenant (0): everybody may see what holds a run back.
    if not exists (
        select 1 from pg_policy
        where polrelid = 'rota.gates'::regclass and polname = 'queue_gates'
    ) then
        create policy queue_gates on rota.gates for select to rota_api using (tenant_id = 0);
    end if;
    -- A tenant sees the channels that it may use.
    grant select on rota.alert_channels to rota_api;
    alter table rota.alert_channels enable row level security;
    if not exists (
        select 1 from pg_policy
        where polrelid = 'rota.alert_channels'::regclass and polname = 'channel_tenants'
    ) then
        execute
            'create policy channel_tenants on rota.alert_channels for select to rota_api using ('
            || $$'*' = any(tenants) or exists ($$
            || $$select 1 from rota.tenants as t where t.name = any(tenants) and t.id $$
            || ours || '))';
    end if;
end
$_$;

CREATE FUNCTION rota.refuse_move() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'this change of state is not allowed'
        using errcode = 'RT001',
        detail = tg_argv[0] || ': ' || case
            when tg_op = 'UPDATE' then old.state::text
            when tg_argv[1] = 'left' then coalesce(to_jsonb(new) ->> 'left_state', 'nothing')
            else 'nothing'
        end || ' to ' || new.state::text;
end
$$;

-- Trigger: refuses changes of the audit log.
CREATE FUNCTION rota.refuse_rewriting() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if tg_op = 'DELETE' and current_setting('rota.retention', true) = 'on' then
        return null;
    end if;
    raise exception 'rota.% is only ever added to', tg_table_name using errcode = 'RT002';
end
$$;

-- Trigger: inserts an audit entry into the table of its month.
CREATE FUNCTION rota.route_audit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    tenant constant text := nullif(current_setting('rota.tenant', true), '');
    month constant text := 'audit_' || to_char(new.at at time zone 'UTC', 'YYYYMM');
begin
    if tenant is not null and tenant::integer <> new.tenant_id then
        raise exception 'new row violates row-level security policy for table "audit"'
            using errcode = '42501';
    end if;
    if to_regclass('rota.' || month) is null then
        return new;
    end if;
    execute format('insert into rota.%I select ($1).*', month) using new;
    return null;
end
$_$;

CREATE FUNCTION rota.serves_tenant(serves jsonb, queue integer, tenant text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select coalesce(
        coalesce(serves -> 'queues' -> queue::text, serves -> 'tenants') ?| array[tenant, '*'],
        true
    )
$$;

CREATE FUNCTION rota.shown_state(j rota.jobs) RETURNS rota.job_state
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    select case
        when
            j.state = 'active'
            and j.schedule is not null
            and not j.schedule ?| array['on_demand', 'event']
            and not exists (select 1 from rota.cursors as c where c.job_id = j.id)
            then 'finished'::rota.job_state
        else j.state
    end
$$;

CREATE FUNCTION rota.start_lag(trigger rota.run_trigger, attempt smallint, due_at timestamp with time zone, created_at timestamp with time zone, started_at timestamp with time zone) RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select case
        when trigger in ('tick', 'api', 'event') and attempt = 1 and started_at is not null
            then greatest(started_at - greatest(due_at, created_at), interval '0')
    end
$$;

CREATE FUNCTION rota.summarize_ranges(most bigint) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(sum(brin_summarize_range(i.indexrelid, range.first)), 0)::integer
    from pg_index as i
    inner join pg_class as c on i.indexrelid = c.oid
    inner join pg_am as a on c.relam = a.oid
    cross join
        lateral (
            select
                pg_relation_size(i.indrelid) / current_setting('block_size')::bigint / 64 as ranges
        ) as full_ones
    cross join
        lateral generate_series(
            greatest(0, (full_ones.ranges - most) * 64), (full_ones.ranges - 1) * 64, 64
        ) as range (first)
    where
        c.relnamespace = 'rota'::regnamespace
        and a.amname = 'brin'
        and c.relkind = 'i'
$$;

