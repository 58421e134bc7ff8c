-- Give up messages that no process could send for too long.
update rota.notifications as n
set
    state = 'failed',
    next_at = null,
    lease_until = null,
    error = coalesce(n.error, 'no process has this channel')
where
    n.id in (
        select o.id from rota.notifications as o
        where
            o.state in ('pending', 'sending')
            and o.created_at < :before::timestamptz
            and (o.lease_until is null or o.lease_until <= :now::timestamptz)
        order by o.created_at
        limit :most::integer
        for update skip locked
    )
returning n.id;
