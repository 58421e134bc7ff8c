-- Insert events with their matches.
insert into rota.events (id, tenant_id, type, source, received_at, body, matches)
select
    n.id,
    :tenant_id::integer,
    n.type,
    n.source,
    :received_at::timestamptz,
    n.body,
    n.matches
from
    unnest(
        :ids::uuid[],
        :types::text[],
        :sources::text[],
        :bodies::jsonb[],
        :matches::jsonb[]
    ) as n (id, type, source, body, matches)
returning id;
