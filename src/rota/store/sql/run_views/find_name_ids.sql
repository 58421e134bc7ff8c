-- The ids of a queue and of a kind by name; null if the name does not exist.
select
    (
        select q.id from rota.queues as q
        where q.name = :queue::text
    ) as queue_id,
    (
        select k.id from rota.kinds as k
        where k.name = :kind::text
    ) as kind_id;
