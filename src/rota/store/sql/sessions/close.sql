-- End a session at once, so that nobody waits for its lease to run out.
update rota.sessions as s
set expires_at = rota.now()
where
    s.id = :id::uuid
    and s.expires_at > rota.now()
returning s.id;
