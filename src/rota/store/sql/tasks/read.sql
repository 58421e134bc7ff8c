-- The kinds that a tenant may see: those with these ids or names, and those that its own
-- submissions have used.
select
    k.id,
    k.name,
    k.description,
    k.payload_schema,
    k.default_policy,
    k.exactly_once
from rota.kinds as k
where
    k.id = any(:ids::integer[])
    or k.name = any(:names::text[])
    or k.made_by = :tenant_id::integer
order by k.name;
