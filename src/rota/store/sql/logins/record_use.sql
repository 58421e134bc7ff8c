-- Record that a login is in use. A login that has ended by then is not revived; one that was
-- recorded a moment ago is not written again.
update rota.logins
set used_at = rota.now()
where
    digest = :digest::bytea
    and not is_ticket
    and coalesce(used_at, created_at) > rota.now() - :idle::interval
    and coalesce(used_at, created_at) <= rota.now() - :least::interval
returning key_id;
