-- Delete keys that are too old to be repeated.
with old as (
    select i.ctid
    from rota.idempotency as i
    where i.created_at < rota.now() - :keep::interval
    order by i.created_at
    limit :most::integer
)

delete from rota.idempotency as i
where i.ctid = any(array(select o.ctid from old as o))
returning i.tenant_id;
