-- Where events come from: who reads a source, how far it got, and what went wrong.

create table rota.sources (
    tenant_id integer not null references rota.tenants (id),
    name text not null check (length(name) between 1 and 63),
    kind text not null check (length(kind) between 1 and 63),
    -- The source's own text: what it goes on behind. Written in the transaction of the events.
    position text check (length(position) <= 65536),
    -- The start of a process that reads it, never a host name; `reader` is what people call it.
    owner uuid not null,
    reader text not null check (length(reader) between 1 and 200),
    -- Rises when the owner changes; who shows an older one writes nothing.
    epoch bigint not null default 1,
    expires_at timestamptz not null,
    taken bigint not null default 0 check (taken >= 0),
    refused bigint not null default 0 check (refused >= 0),
    lag bigint check (lag >= 0),
    -- When it last answered, and when it last had an event.
    read_at timestamptz,
    taken_at timestamptz,
    failures integer not null default 0 check (failures >= 0),
    error text check (length(error) <= 2000),
    error_at timestamptz,
    created_at timestamptz not null default rota.now(),
    primary key (tenant_id, name)
) with (fillfactor = 50);

select rota.raise_wall();
