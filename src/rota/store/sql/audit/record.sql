-- Record one change.
insert into rota.audit (
    at, tenant_id, actor, key_id, source, action, thing, thing_id, before, after, request_id,
    origin
)
values (
    rota.now(),
    :tenant_id::integer,
    :actor::text,
    :key_id::uuid,
    :source::text,
    :action::text,
    :thing::text,
    :thing_id::text,
    :before::jsonb,
    :after::jsonb,
    :request_id::text,
    :origin::text
)
returning id;
