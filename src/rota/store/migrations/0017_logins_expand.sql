-- People who look at the dashboard. A login stands for the key that it was made with and ends with
-- it. There is no tenant here, so that the role behind the wall gets no right on it: logins are
-- found before anybody knows the tenant, by the owner, as keys are.
create table rota.logins (
    -- SHA-256 of 256 random bits.
    digest bytea primary key check (length(digest) = 32),
    key_id uuid not null references rota.api_keys (id) on delete cascade,
    -- A ticket is good for one login and a minute; it is what `rota open` puts into a link.
    is_ticket boolean not null default false,
    created_at timestamptz not null default rota.now(),
    expires_at timestamptz not null
);

create index logins_key on rota.logins (key_id);
create index logins_end on rota.logins (expires_at);

-- What the payload of a kind looks like, as JSON Schema, if a worker has told; forms come of it.
alter table rota.kinds add column payload_schema jsonb;
