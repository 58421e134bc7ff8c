-- The queue of a name, if it exists; creates none.
select
    q.id,
    q.name
from rota.queues as q
where q.name = :name::text;
