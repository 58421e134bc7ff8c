-- The queue of a name, if there is one; asking makes none.
select
    q.id,
    q.name
from rota.queues as q
where q.name = :name::text;
