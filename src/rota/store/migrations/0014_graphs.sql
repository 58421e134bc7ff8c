-- Graphs: a job whose runs unfold into the runs of its steps (docs/adr/0018-marks.md).
--
-- The tables of 0005 were a guess that nobody has written to: a graph is a job, so it needs no
-- name, version or state of its own.
drop table rota.graph_runs;
drop table rota.graphs;

-- What a graph consists of, interned like a policy: a row never changes, so a graph run keeps the
-- definition it began with, whatever becomes of its job.
create table rota.graphs (
    id integer generated always as identity primary key,
    tenant_id integer not null,
    digest text not null check (length(digest) = 32),
    definition jsonb not null,
    created_at timestamptz not null default rota.now(),
    unique (tenant_id, digest)
);

alter table rota.jobs add column graph_id integer;

-- The graph run that a run is a step of, which step, and which member of a step with many. Null for
-- everything else.
alter table rota.live_runs add column graph_run_id uuid;
alter table rota.live_runs add column step integer;
alter table rota.live_runs add column member integer;
alter table rota.runs add column graph_run_id uuid;
alter table rota.runs add column step integer;
alter table rota.runs add column member integer;

create index live_runs_of_graph on rota.live_runs (graph_run_id, step)
where graph_run_id is not null;
-- History needs none: the ids of steps and members are derived, and lie beside each other.

-- The runs of a job are those that its schedule or somebody made; its steps are the graph run's,
-- and they alone have this trigger. Said so and not as a null, which without statistics the planner
-- takes for one in two hundred rows, and reads them all.
drop index rota.live_runs_of_job;
create index live_runs_of_job on rota.live_runs (job_id)
where state in ('blocked', 'queued', 'retrying') and trigger <> 'graph';
drop index rota.runs_job;
create index runs_job on rota.runs (job_id, id)
where trigger <> 'graph';

-- A graph run is blocked while its steps run: it does not wait for its turn at a gate, it has
-- passed.
drop index rota.live_runs_in_order;
create index live_runs_in_order on rota.live_runs ((gates[1]::bigint), scheduled_at, id)
where state in ('queued', 'retrying') and gates is not null;

-- So it holds its place there, together with what is executed.
create index live_runs_unfolded on rota.live_runs (id)
where state = 'blocked' and gates is not null;

-- One row per graph run, and one lock: whoever advances a graph run holds it, so of two steps that
-- end at once each is seen, together or one after the other (F29).
create table rota.graph_runs (
    run_id uuid not null,
    tenant_id integer not null,
    job_id uuid not null,
    -- Null if the job has no graph any more; such a run ends as dead.
    graph_id integer,
    -- The way from that definition to the graph in it that this run is of: empty for the whole one,
    -- the numbers of steps for a sub-graph.
    path integer[] not null default '{}',
    -- The state of every step, one character each (core/graphs); empty until it first advances.
    board text not null default '',
    -- Rises when it goes again. The run of a step bears the round in its id, so what was made in an
    -- earlier round is not made again and not taken for the new one.
    round smallint not null default 0,
    -- {step: round} of the steps whose last run was made in another round than the first.
    rounds jsonb not null default '{}',
    -- {step: why} of the steps that did not run, or failed before they did.
    told jsonb not null default '{}',
    started_at timestamptz not null,
    paused_at timestamptz,
    ended_at timestamptz,
    primary key (run_id)
) partition by range (run_id);

create table rota.graph_runs_rest partition of rota.graph_runs default;

-- A step with many members: how many there are (null while its source still counts them), how many
-- were made, and what became of them.
create table rota.graph_maps (
    run_id uuid not null,
    step integer not null,
    tenant_id integer not null,
    round smallint not null default 0,
    total integer,
    made integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    cancelled integer not null default 0,
    -- The first failure of a member: {member, run_id, …}.
    reason jsonb,
    primary key (run_id, step)
) partition by range (run_id);

create table rota.graph_maps_rest partition of rota.graph_maps default;

-- That runs of a step ended: written by the very statement that ends them, taken away by the
-- transaction that advances the graph run. So a wake-up cannot be lost, whoever ended the step and
-- whoever dies after it. One row for all runs of a step that a statement ends in the same state.
-- step -1: the graph run itself was ended by somebody else, so its steps are to be cancelled;
-- step -2: look at it, because it has just unfolded or was resumed.
create table rota.step_marks (
    id bigint generated always as identity,
    tenant_id integer not null,
    graph_run_id uuid not null,
    step integer not null,
    -- Null for the two that are not about a step.
    state rota.run_state,
    ended integer not null default 1,
    -- How many of them are members, and one of the runs, to read its result or error from.
    members integer not null default 0,
    run_id uuid,
    primary key (graph_run_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The wall between tenants, for the new tables too.
select rota.raise_wall();
