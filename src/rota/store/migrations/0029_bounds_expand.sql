-- The default quotas that hold a tenant back at the moment: those of which it uses so much that
-- each submission must be counted. Upkeep writes them; far from a limit there is nothing to read
-- and nothing to count (docs/adr/0040-bounds.md).
alter table rota.tenants add column default_quotas jsonb not null default '{}';
alter table rota.tenants add column measured_at timestamptz;

-- The tenant whose submission made the name, to bound how many names a tenant makes. Null for names
-- of workers and of earlier releases.
alter table rota.queues add column made_by integer;
alter table rota.kinds add column made_by integer;

-- Signatures that were accepted at hooks whose senders sign no time. Events are forgotten after
-- their retention; without this, a request that was recorded then could be sent once more.
create table rota.hook_deliveries (
    tenant_id integer not null,
    hook_id uuid not null references rota.hooks (id) on delete cascade,
    digest bytea not null check (length(digest) = 32),
    received_at timestamptz not null,
    primary key (hook_id, digest)
);

create index hook_deliveries_age on rota.hook_deliveries (received_at);

-- The wall between tenants, for the new table too.
select rota.raise_wall();
