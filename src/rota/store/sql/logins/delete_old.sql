-- Delete logins that have expired, and all but the latest logins of a key: a script that logs in
-- repeatedly must not fill the table.
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
