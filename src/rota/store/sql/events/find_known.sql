-- Events that were received before, by their keys, with their matches.
select
    k.digest,
    k.event_id,
    coalesce(e.matches, '[]') as matches
from rota.event_keys as k
left join rota.events as e on k.event_id = e.id
where
    k.tenant_id = :tenant_id::integer
    and k.digest = any(:digests::bytea[]);
