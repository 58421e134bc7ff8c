-- Write down changes that one request made to several things, as note_many.sql does any.
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
    n.after,
    :request_id::text
from unnest(:thing_ids::text[], :afters::jsonb[]) as n (thing_id, after);
