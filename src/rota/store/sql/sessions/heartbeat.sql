-- Renew a session and return its instructions. No row means that the session was expired: it is
-- never revived, since its runs may belong to another session by now. A session whose lease has run
-- out but that was not expired yet continues: an outage of the database costs no lease.
update rota.sessions as s
set
    beat_at = rota.now(),
    expires_at = rota.now() + :ttl::interval,
    running = :running::uuid[]
where
    s.id = :id::uuid
    and s.expires_at > '-infinity'
returning
    s.expires_at,
    s.draining,
    array(
        select r.id
        from rota.live_runs as r
        where
            r.session_id = s.id
            and r.state = 'cancelling'
            and r.state in ('running', 'cancelling')
    ) as cancelling;
