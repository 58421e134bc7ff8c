-- Delete messages that were planned before a time and wait for nothing.
delete from rota.notifications as n
where
    n.id in (
        select o.id from rota.notifications as o
        where
            o.created_at < :before::timestamptz
            and o.state not in ('pending', 'sending')
        order by o.created_at
        limit :most::integer
        for update skip locked
    )
returning n.id;
