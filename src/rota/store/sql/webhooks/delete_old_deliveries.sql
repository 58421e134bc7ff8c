-- Delete old deliveries, in batches.
delete from rota.webhook_deliveries as d
where
    d.id = any(array(
        select o.id from rota.webhook_deliveries as o
        where o.created_at < rota.now() - :keep::interval
        order by o.created_at
        limit :most::integer
        for update skip locked
    ))
returning d.id;
