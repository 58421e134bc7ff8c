-- The kinds among these whose workers cannot complete a run in its handler's transaction.
select k.name
from rota.kinds as k
where
    k.name = any(:kinds::text[])
    and k.exactly_once = false;
