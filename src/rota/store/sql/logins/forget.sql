-- Delete logins that have ended by themselves, and of a key all but its latest: a script that logs
-- in again and again must not fill the table.
delete from rota.logins
where
    digest in (
        select l.digest from rota.logins as l
        where l.expires_at <= rota.now()
        order by l.expires_at
        limit :most::integer
    )
    or digest in (
        select l.digest from rota.logins as l
        where l.key_id = :key_id::uuid
        order by l.created_at desc
        offset :kept::integer
    )
returning key_id;
