-- Events from outside: what arrived, which jobs wait for it, and what is gathered before it runs.

-- Made ahead of its time in 0005, and never written to.
drop table rota.events;

-- A day is a range of ids, as with runs: an id begins with the time of arrival.
create table rota.events (
    id uuid not null,
    tenant_id integer not null,
    type text not null check (length(type) between 1 and 200),
    source text not null check (length(source) between 1 and 500),
    received_at timestamptz not null,
    -- All of its attributes, as expressions and handlers see them.
    body jsonb not null,
    -- What it came to, job by job: {job_id, outcome, run_id, why}.
    matches jsonb not null default '[]',
    primary key (id)
) partition by range (id);

create table rota.events_rest partition of rota.events default;

create index events_tenant on rota.events (tenant_id, id);
create index events_of_type on rota.events (tenant_id, type, id);
create index events_of_source on rota.events (tenant_id, source, id);

-- (source, id) of the events of a tenant, by a hash: an event that comes again finds itself here.
-- A table of its own, because a unique key over partitions would have to hold the day.
create table rota.event_keys (
    tenant_id integer not null,
    digest bytea not null check (length(digest) = 16),
    event_id uuid not null,
    received_at timestamptz not null,
    primary key (tenant_id, digest)
);

create index event_keys_age on rota.event_keys (received_at);

-- Which jobs wait for which types. Kept by a trigger on jobs: whoever writes a job, in whichever
-- way, cannot forget it. A job that waits for nothing pays for one comparison.
create table rota.event_types (
    tenant_id integer not null,
    type text not null,
    job_id uuid not null,
    primary key (tenant_id, type, job_id)
);

create index event_types_job on rota.event_types (job_id);

create function rota.keep_event_types() returns trigger
language plpgsql
as $$
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

create trigger event_types_of_new after insert on rota.jobs
for each row when (new.schedule ? 'event')
execute function rota.keep_event_types();

create trigger event_types_of_changed after update of schedule, state on rota.jobs
for each row when (
    (new.schedule ? 'event' or old.schedule ? 'event')
    and (
        new.schedule is distinct from old.schedule
        or (new.state = 'deleted') <> (old.state = 'deleted')
    )
)
execute function rota.keep_event_types();

insert into rota.event_types (tenant_id, type, job_id)
select
    j.tenant_id,
    j.schedule ->> 'event',
    j.id
from rota.jobs as j
where
    j.schedule ? 'event'
    and j.state <> 'deleted';

-- Events that wait to become one run: one pile for each job and key. Whoever adds to it, or makes a
-- run of it, holds its row. It knows the id of its run from the beginning.
create table rota.event_piles (
    job_id uuid not null,
    key text not null,
    tenant_id integer not null,
    run_id uuid not null,
    opened_at timestamptz not null,
    due_at timestamptz not null,
    count integer not null,
    size integer not null,
    filled integer not null,
    primary key (job_id, key)
) with (fillfactor = 70);

create index event_piles_due on rota.event_piles (due_at);

create table rota.event_members (
    run_id uuid not null,
    part integer not null,
    event_id uuid not null,
    tenant_id integer not null,
    primary key (run_id, part)
);

-- Where others may hand in events without a key of ours, by signing them.
create table rota.hooks (
    id uuid primary key,
    tenant_id integer not null references rota.tenants (id),
    name text not null check (length(name) between 1 and 200),
    type text not null check (length(type) between 1 and 200),
    style text not null check (style in ('standard', 'github')),
    -- Rises when the secret is replaced; the one before is good until `former_until`. Sealed with
    -- the master key of this id.
    version integer not null default 1,
    key_id text not null,
    ciphertext bytea not null,
    former bytea,
    former_until timestamptz,
    created_at timestamptz not null default rota.now(),
    used_at timestamptz,
    unique (tenant_id, name)
);

select rota.raise_wall();
