-- The ids of a queue and of a kind by their names; no id means that there is none of that name.
select
    (
        select q.id from rota.queues as q
        where q.name = :queue::text
    ) as queue_id,
    (
        select k.id from rota.kinds as k
        where k.name = :kind::text
    ) as kind_id;
