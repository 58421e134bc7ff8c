-- Webhook subscriptions: endpoints of other systems that get signed events about runs, jobs and
-- incidents (docs/adr/0058-webhook-subscriptions.md). The relay inserts events and deliveries; a
-- tenant without endpoints causes no rows.
create table rota.webhook_endpoints (
    id uuid primary key,
    tenant_id integer not null,
    name text not null check (length(name) between 1 and 200),
    url text not null check (length(url) between 1 and 4000),
    events text[] not null,
    filter jsonb not null default '{}',
    include text[] not null default '{}',
    format text not null default 'standard' check (format in ('standard', 'cloudevents')),
    allow_http boolean not null default false,
    state text not null default 'enabled' check (state in ('enabled', 'disabled')),
    disabled_reason text check (disabled_reason in ('manual', 'gone', 'failing')),
    disabled_at timestamptz,
    version integer not null default 1,
    secret_version integer not null default 1,
    key_id text not null,
    ciphertext bytea not null,
    former bytea,
    former_until timestamptz,
    concurrency smallint not null default 10 check (concurrency between 1 and 100),
    failures integer not null default 0,
    failing_since timestamptz,
    probe_at timestamptz,
    last_success_at timestamptz,
    last_failure_at timestamptz,
    last_error text,
    created_at timestamptz not null default rota.now(),
    created_by text not null,
    updated_at timestamptz not null default rota.now(),
    unique (tenant_id, name)
) with (fillfactor = 70);
comment on table rota.webhook_endpoints is
'URLs that get events as signed requests, with their subscription and health.';
comment on column rota.webhook_endpoints.events is
'Event types or patterns such as run.*; an event must match one of them.';
comment on column rota.webhook_endpoints.filter is
'Conditions that events must meet: job, task, queue, labels, severity.';
comment on column rota.webhook_endpoints.include is
'Fields that are sent in addition: payload, result.';
comment on column rota.webhook_endpoints.disabled_reason is
'Who disabled it: a user (manual), a response 410 (gone), or Rota after days of failures.';
comment on column rota.webhook_endpoints.version is
'Rises with every change by a user, for If-Match.';
comment on column rota.webhook_endpoints.ciphertext is
'The signing secret, encrypted with the master key `key_id`.';
comment on column rota.webhook_endpoints.former is
'The previous secret, which signs as well until `former_until`.';
comment on column rota.webhook_endpoints.concurrency is
'Deliveries in flight at a time. Halves when the endpoint is overloaded, recovers by one.';
comment on column rota.webhook_endpoints.failures is 'Failed attempts since the last success.';
comment on column rota.webhook_endpoints.failing_since is
'First failed attempt since the last success; null while the endpoint works.';
comment on column rota.webhook_endpoints.probe_at is
'While the endpoint is failing, when the next single attempt may be sent.';
comment on column rota.webhook_endpoints.last_success_at is
'Last success, updated at most once a minute while the endpoint works.';

create table rota.webhook_events (
    id uuid primary key,
    tenant_id integer not null,
    type text not null,
    at timestamptz not null,
    subject text,
    data jsonb not null,
    extras jsonb,
    created_at timestamptz not null default rota.now()
);
comment on table rota.webhook_events is
'Events that at least one webhook endpoint gets; each body is stored once.';
comment on column rota.webhook_events.id is
'Derived from the row that the event describes; it is the webhook-id of every request.';
comment on column rota.webhook_events.extras is
'Payload and result of the run, only if an endpoint includes them.';

-- For retention.
create index webhook_events_created on rota.webhook_events (created_at);

create table rota.webhook_deliveries (
    id uuid primary key,
    tenant_id integer not null,
    endpoint_id uuid not null,
    event_id uuid not null,
    state text not null default 'pending'
    check (state in ('pending', 'delivered', 'failed', 'dropped')),
    attempts integer not null default 0,
    retries smallint not null default 0,
    next_attempt_at timestamptz not null default rota.now(),
    leased_until timestamptz,
    leased_by uuid,
    created_at timestamptz not null default rota.now(),
    finished_at timestamptz,
    status smallint,
    error text,
    response text,
    history jsonb not null default '[]',
    unique (endpoint_id, event_id)
) with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000
);
comment on table rota.webhook_deliveries is
'One event for one endpoint: its state and its attempts. Kept for 14 days.';
comment on column rota.webhook_deliveries.id is 'Derived from endpoint and event.';
comment on column rota.webhook_deliveries.state is
'A pending delivery of a disabled endpoint is held: it waits until the endpoint is enabled.';
comment on column rota.webhook_deliveries.attempts is
'Number of the newest attempt; an older attempt cannot record its result.';
comment on column rota.webhook_deliveries.retries is
'Position on the retry schedule; starts at 0 again when the delivery is replayed.';
comment on column rota.webhook_deliveries.leased_until is
'An attempt is in flight until then at the latest; null if none is.';
comment on column rota.webhook_deliveries.leased_by is 'The sender that holds the lease.';
comment on column rota.webhook_deliveries.status is 'HTTP status of the last attempt, if any.';
comment on column rota.webhook_deliveries.response is
'Beginning of the response body of the last attempt.';
comment on column rota.webhook_deliveries.history is
'The last attempts: time, status, error and duration in milliseconds.';

create index webhook_deliveries_due on rota.webhook_deliveries (endpoint_id, next_attempt_at)
where state = 'pending';
create index webhook_deliveries_leased on rota.webhook_deliveries (endpoint_id, leased_until)
where leased_until is not null;
-- For retention.
create index webhook_deliveries_created on rota.webhook_deliveries (created_at);

insert into rota.role_grants (relation, service, worker) values
('webhook_endpoints', 'all', ''),
('webhook_events', 'all', ''),
('webhook_deliveries', 'all', '');

select rota.raise_wall();
select rota.grant_roles();
