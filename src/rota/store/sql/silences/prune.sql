-- Delete silences that ended before a time.
delete from rota.silences as s
where
    s.id in (
        select o.id from rota.silences as o
        where o.ends_at < :before::timestamptz
        limit :most::integer
        for update skip locked
    )
returning s.id;
