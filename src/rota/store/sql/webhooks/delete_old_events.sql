-- Delete old events, in batches. Their deliveries are as old, and are deleted first.
delete from rota.webhook_events as v
where
    v.id = any(array(
        select o.id from rota.webhook_events as o
        where
            o.created_at < rota.now() - :keep::interval
            and not exists (
                select from rota.webhook_deliveries as d
                where d.created_at < rota.now() - :keep::interval
            )
        order by o.created_at
        limit :most::integer
        for update skip locked
    ))
returning v.id;
