-- The existing kinds of these names; creates none.
select
    k.id,
    k.name
from rota.kinds as k
where k.name = any(:names::text[]);
