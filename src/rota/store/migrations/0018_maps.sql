-- What a map needs beyond its counters (docs/adr/0019-maps.md).

-- Items that are known: all of a list, or what the source has handed out so far.
alter table rota.graph_maps add column handed integer not null default 0;
-- Members that ended badly and wait to go again after a retry, and behind which member to look for
-- the next of them.
alter table rota.graph_maps add column again integer not null default 0;
alter table rota.graph_maps add column again_after integer not null default -1;
-- The round in which all of it began: what its parents gave may differ in a later one, and then
-- nothing that was made before counts. The ids of members bear it.
alter table rota.graph_maps add column base smallint not null default 0;
-- Whether its items are just the numbers from 0 on, and whether its source is still at work.
alter table rota.graph_maps add column is_counted boolean not null default false;
alter table rota.graph_maps add column is_sourcing boolean not null default false;
-- As what it will end because nothing more is made: too many members failed, or its source did.
-- Null while all is well. `reason` says it in words.
alter table rota.graph_maps add column stopped text
check (stopped in ('failed', 'cancelled'));
alter table rota.graph_maps add column started_at timestamptz not null default rota.now();
alter table rota.graph_maps add column ended_at timestamptz;

-- Items that are not members yet, up to a thousand in a row. A row goes once all its members are
-- made; what a failed map leaves behind is for its retry, and goes with its day.
create table rota.graph_items (
    run_id uuid not null,
    step integer not null,
    -- The index of the first one.
    first integer not null,
    tenant_id integer not null,
    number integer not null check (number > 0),
    items jsonb not null,
    primary key (run_id, step, first)
) partition by range (run_id);

create table rota.graph_items_rest partition of rota.graph_items default;

-- The members that did not succeed, for lists and for a retry: among a million they are few, and
-- those that end well pay nothing for it.
create index runs_bad_members on rota.runs (id)
where member is not null and state <> 'succeeded';

select rota.raise_wall();
