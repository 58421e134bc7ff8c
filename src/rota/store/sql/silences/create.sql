-- Create a silence.
insert into rota.silences (
    id, tenant_id, match, starts_at, ends_at, calendar, reason, created_by, created_at
)
values (
    :id::uuid,
    :tenant_id::integer,
    :match::jsonb,
    :starts_at::timestamptz,
    :ends_at::timestamptz,
    :calendar::text,
    :reason::text,
    :created_by::text,
    rota.now()
)
returning
    id, tenant_id, match, starts_at, ends_at, calendar, reason, created_by, created_at, ended_by;
