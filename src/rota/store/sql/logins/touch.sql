-- Note that a person uses a login. One that has ended by then does not come back; one that was
-- noted a moment ago is left alone.
update rota.logins
set used_at = rota.now()
where
    digest = :digest::bytea
    and not is_ticket
    and coalesce(used_at, created_at) > rota.now() - :idle::interval
    and coalesce(used_at, created_at) <= rota.now() - :least::interval
returning key_id;
