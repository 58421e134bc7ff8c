-- The name of a kind.
select k.name
from rota.kinds as k
where k.id = :kind_id::integer;
