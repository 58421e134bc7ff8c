-- Store events once; those that are known are left unchanged.
insert into rota.webhook_events (id, tenant_id, type, at, subject, data, extras)
select
    v.id,
    v.tenant_id,
    v.type,
    v.at,
    v.subject,
    v.data,
    v.extras
from
    unnest(
        :ids::uuid[],
        :tenant_ids::integer[],
        :types::text[],
        :ats::timestamptz[],
        :subjects::text[],
        :data::jsonb[],
        :extras::jsonb[]
    ) as v (id, tenant_id, type, at, subject, data, extras)
on conflict (id) do nothing
returning id;
