-- The kinds of these names that are there; asking makes none.
select
    k.id,
    k.name
from rota.kinds as k
where k.name = any(:names::text[]);
