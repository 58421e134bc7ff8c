-- End a session at once and for ever, so that its lease need not run out first.
update rota.sessions as s
set expires_at = '-infinity'
where
    s.id = :id::uuid
    and s.expires_at > '-infinity'
returning s.id;
