-- Write down that one request made several things, each with its name, as note_many.sql does any
-- change.
insert into rota.audit (
    tenant_id, actor, key_id, source, action, thing, thing_id, before, after, request_id
)
select
    :tenant_id::integer,
    :actor::text,
    :key_id::uuid,
    :source::text,
    :action::text,
    :thing::text,
    n.thing_id,
    null,
    jsonb_build_object('name', n.name),
    :request_id::text
from unnest(:thing_ids::text[], :names::text[]) as n (thing_id, name);
