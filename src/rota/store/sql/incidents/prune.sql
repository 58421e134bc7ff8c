-- Delete incidents that ended before a time, with their threads.
with old as (
    delete from rota.incidents as i
    where
        i.id in (
            select o.id from rota.incidents as o
            where
                o.state = 'resolved'
                and o.resolved_at < :before::timestamptz
            order by o.resolved_at
            limit :most::integer
            for update skip locked
        )
    returning i.id
),

threads as (
    delete from rota.incident_events as e
    where e.incident_id in (select o.id from old as o)
)

select o.id
from old as o;
