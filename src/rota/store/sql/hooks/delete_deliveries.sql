-- Delete deliveries that are too old, in batches.
delete from rota.hook_deliveries as d
where
    d.ctid = any(array(
        select o.ctid from rota.hook_deliveries as o
        where o.received_at < rota.now() - :keep::interval
        order by o.received_at
        limit :most::integer
        for update skip locked
    ))
returning d.hook_id as id;
