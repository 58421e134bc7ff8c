-- What the service around the engine keeps: access, idempotency, audit, graphs, events, secrets.

create table rota.api_keys (
    id uuid primary key,
    tenant_id integer not null references rota.tenants (id),
    name text not null check (length(name) between 1 and 200),
    -- SHA-256 of 256 random bits: a fast hash is right for a secret that cannot be guessed.
    digest bytea not null unique check (length(digest) = 32),
    role text not null check (role in ('viewer', 'operator', 'admin')),
    user_id text,
    created_at timestamptz not null default rota.now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    used_at timestamptz
);

create table rota.idempotency (
    tenant_id integer not null,
    scope text not null,
    key text not null check (length(key) between 1 and 255),
    fingerprint bytea not null check (length(fingerprint) = 32),
    status smallint,
    body bytea,
    created_at timestamptz not null default rota.now(),
    primary key (tenant_id, scope, key)
);

create index idempotency_age on rota.idempotency (created_at);

create table rota.audit (
    id bigint generated always as identity,
    at timestamptz not null default rota.now(),
    tenant_id integer not null,
    actor text not null,
    source text,
    action text not null,
    thing text not null,
    thing_id text not null,
    before jsonb,
    after jsonb,
    request_id text,
    primary key (id)
);

create index audit_thing on rota.audit (tenant_id, thing, thing_id, id);

create table rota.graphs (
    id uuid primary key,
    tenant_id integer not null references rota.tenants (id),
    name text not null check (length(name) between 1 and 200),
    version integer not null default 1,
    body jsonb not null,
    created_at timestamptz not null default rota.now(),
    updated_at timestamptz not null default rota.now(),
    unique (tenant_id, name)
);

create table rota.graph_runs (
    id uuid primary key,
    graph_id uuid not null references rota.graphs (id),
    graph_version integer not null,
    tenant_id integer not null,
    state rota.run_state not null,
    created_at timestamptz not null default rota.now(),
    finished_at timestamptz
);

create table rota.events (
    id uuid primary key,
    tenant_id integer not null,
    type text not null check (length(type) between 1 and 200),
    source text not null default '',
    external_id text not null,
    payload jsonb,
    received_at timestamptz not null default rota.now(),
    unique (tenant_id, source, external_id)
);

create table rota.secrets (
    tenant_id integer not null references rota.tenants (id),
    name text not null check (length(name) between 1 and 200),
    version integer not null default 1,
    key_id text not null,
    ciphertext bytea not null,
    updated_at timestamptz not null default rota.now(),
    primary key (tenant_id, name)
);
