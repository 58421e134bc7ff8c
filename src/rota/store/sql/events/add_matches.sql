-- Store the matches of events that were matched again.
update rota.events as e
set matches = e.matches || n.matches
from unnest(:ids::uuid[], :matches::jsonb[]) as n (id, matches)
where
    e.id = n.id
    and e.tenant_id = :tenant_id::integer
returning e.id;
