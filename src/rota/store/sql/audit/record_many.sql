-- Record several changes at once, like note.sql.
insert into rota.audit (
    tenant_id, actor, key_id, source, action, thing, thing_id, before, after, request_id, origin
)
select
    n.tenant_id,
    n.actor,
    n.key_id,
    n.source,
    n.action,
    n.thing,
    n.thing_id,
    n.before,
    n.after,
    n.request_id,
    n.origin
from
    unnest(
        :tenant_ids::integer[],
        :actors::text[],
        :key_ids::uuid[],
        :sources::text[],
        :actions::text[],
        :things::text[],
        :thing_ids::text[],
        :befores::jsonb[],
        :afters::jsonb[],
        :request_ids::text[],
        :origins::text[]
    ) as n (
        tenant_id, actor, key_id, source, action, thing, thing_id, before, after, request_id,
        origin
    );
