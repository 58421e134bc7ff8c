-- What a tenant says about a queue, and which tenants a worker serves
-- (docs/adr/0038-tenants-of-resources.md).

-- The queues of a tenant: those that it created, and those that its jobs name. The pause and the
-- gate hold for runs of this tenant only; those of rota.queues hold for all.
create table rota.tenant_queues (
    tenant_id integer not null references rota.tenants (id) on delete cascade,
    queue_id integer not null references rota.queues (id),
    gate_id integer,
    paused_at timestamptz,
    paused_by text,
    created_at timestamptz not null default rota.now(),
    primary key (tenant_id, queue_id)
);

-- Every claim and every batch of ticks asks which are paused, and mostly there is none.
create index tenant_queues_paused on rota.tenant_queues (queue_id, tenant_id)
where paused_at is not null;
create index tenant_queues_gated on rota.tenant_queues (queue_id, tenant_id)
where gate_id is not null;

insert into rota.tenant_queues (tenant_id, queue_id)
select distinct
    j.tenant_id,
    j.queue_id
from rota.jobs as j
inner join rota.tenants as t on j.tenant_id = t.id
where j.state <> 'deleted'
on conflict (tenant_id, queue_id) do nothing;

-- The tenants whose runs a worker takes, {"tenants": [names], "queues": {queue id: [names]}}; `*`
-- is every tenant. Null: a worker of a release that did not ask, which takes the runs of all.
alter table rota.sessions add column serves jsonb;

create function rota.serves_tenant(serves jsonb, queue integer, tenant text) returns boolean
language sql immutable parallel safe
as $$
    select coalesce(
        coalesce(serves -> 'queues' -> queue::text, serves -> 'tenants') ?| array[tenant, '*'],
        true
    )
$$;

select rota.raise_wall();
