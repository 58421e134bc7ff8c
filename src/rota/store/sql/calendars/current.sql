-- The existing ones of these calendars of any tenant, for a scheduler, with a body only where the
-- scheduler has another version.
select
    c.tenant_id,
    c.name,
    case
        when n.version = c.version and n.updated_at = c.updated_at then null
        else c.body
    end as body,
    c.version,
    c.updated_at
from
    unnest(
        :tenant_ids::integer[],
        :names::text[],
        :versions::integer[],
        :updated_ats::timestamptz[]
    ) as n (tenant_id, name, version, updated_at)
inner join rota.calendars as c on n.tenant_id = c.tenant_id and n.name = c.name;
