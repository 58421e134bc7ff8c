-- What running needs beyond the tables: gates for limits, notes of attempts, deadlines of ticks.

-- A gate lets a bounded number of runs through: so many at a time, so many per time, or one after
-- the other in the order of their ticks. Nobody counts up and down: whoever wants through locks the
-- gate and counts the runs that are held now, so a dead worker cannot keep a place
-- (docs/adr/0010-gates.md). The table of slot rows that was meant for this is not needed.
create table rota.gates (
    id integer generated always as identity primary key,
    tenant_id integer not null,
    key text not null check (length(key) between 1 and 200),
    -- Null means no limit of that sort.
    most integer check (most > 0),
    rate_count integer check (rate_count > 0),
    rate_per interval check (rate_per > interval '0'),
    rate_burst integer check (rate_burst > 0),
    -- The time at which all starts so far are paid for (core/limits.py).
    paid_until timestamptz,
    -- One at a time, in the order of (scheduled_at, id), a waiting retry included.
    in_order boolean not null default false,
    unique (tenant_id, key),
    constraint gates_rate check (
        (rate_count is null) = (rate_per is null)
        and (rate_count is null) = (rate_burst is null)
    )
) with (fillfactor = 50);

drop table rota.slots;

-- The gate that all runs of a queue or of a tenant pass.
alter table rota.queues add column gate_id integer;
alter table rota.tenants add column gate_id integer;

create index tenants_paused on rota.tenants (id) where paused_at is not null;
-- What a claimer must know of tenants, once a second, however many there are.
create index tenants_guarded on rota.tenants (id) where gate_id is not null or weight <> 1;

-- The limits as the job says them: their keys have places that a run's payload fills.
alter table rota.jobs add column limits jsonb;
alter table rota.jobs add column keep_first boolean not null default false;

-- What a tick hands on to its run. `keep_first`: of the ticks that wait behind a running one, the
-- policy queue_one keeps the first; otherwise the latest.
alter table rota.cursors add column gates integer[];
alter table rota.cursors add column deadline interval;
alter table rota.cursors add column keep_first boolean not null default false;

-- The gates that a run passes, the narrowest first; null for the many that pass none.
alter table rota.live_runs add column gates integer[];
alter table rota.runs add column gates integer[];

drop index rota.live_runs_waiting;
create index live_runs_waiting on rota.live_runs (queue_id, tenant_id, priority, ready_at, id)
where state in ('queued', 'retrying') and gates is null;

create index live_runs_gated on rota.live_runs
(queue_id, (gates[1]), priority, ready_at, id)
where state in ('queued', 'retrying') and gates is not null;

-- Whose turn it is at a gate that keeps an order. Such a gate is the first of its runs. As bigint,
-- so that the planner cannot take this index for the one above, and read and sort what waits.
create index live_runs_in_order on rota.live_runs ((gates[1]::bigint), scheduled_at, id)
where state in ('blocked', 'queued', 'retrying') and gates is not null;

create index live_runs_deadline on rota.live_runs (deadline_at)
where state in ('blocked', 'queued', 'retrying') and deadline_at is not null;

-- What attempts say while they run: the last progress, the last checkpoint. A later attempt of the
-- same run goes on from the checkpoint.
create table rota.run_notes (
    run_id uuid not null,
    attempt smallint not null,
    noted_at timestamptz not null,
    progress real check (progress between 0 and 1),
    message text,
    checkpoint jsonb,
    primary key (run_id)
) partition by range (run_id);

create table rota.run_notes_rest partition of rota.run_notes default;
