-- The existing queues of these names; creates none.
select
    k.id,
    k.name
from rota.queues as k
where k.name = any(:names::text[]);
