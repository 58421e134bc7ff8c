-- Delete backfills that ended long ago. Their gates stay, because runs in history refer to them.
with old as (
    select b.id
    from rota.backfills as b
    where
        b.ended_at is not null
        and b.ended_at < (select rota.now()) - :keep::interval
    order by b.ended_at
    limit :most::integer
    for update skip locked
)

delete from rota.backfills as b
using old as o
where b.id = o.id
returning b.id;
