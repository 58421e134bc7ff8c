-- Delete events in the rest partition that arrived too long ago.
with old as (
    select e.id
    from rota.events_rest as e
    where e.id < :before::uuid
    order by e.id
    limit :most::integer
    for update skip locked
)

delete from rota.events_rest as e
using old as o
where e.id = o.id
returning e.id;
