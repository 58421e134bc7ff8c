-- Delete the keys of events whose retention has ended, in batches.
delete from rota.event_keys as k
where
    k.ctid = any(array(
        select o.ctid from rota.event_keys as o
        where o.received_at < :before::timestamptz
        order by o.received_at
        limit :most::integer
        for update skip locked
    ))
returning k.event_id;
