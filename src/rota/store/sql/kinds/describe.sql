-- Store the payload schemas of kinds; only changes are written.
update rota.kinds as k
set payload_schema = g.body
from unnest(:kinds::text[], :bodies::jsonb[]) as g (name, body)
where
    k.name = g.name
    and k.payload_schema is distinct from g.body
returning k.id;
