-- End a session at once and for ever, so that nobody waits for its lease to run out.
update rota.sessions as s
set expires_at = '-infinity'
where
    s.id = :id::uuid
    and s.expires_at > '-infinity'
returning s.id;
