-- Events that came before, by their keys, and what they came to.
select
    k.digest,
    k.event_id,
    coalesce(e.matches, '[]') as matches
from rota.event_keys as k
left join rota.events as e on k.event_id = e.id
where
    k.tenant_id = :tenant_id::integer
    and k.digest = any(:digests::bytea[]);
