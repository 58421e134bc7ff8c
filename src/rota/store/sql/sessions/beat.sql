-- Renew a session and bring back what it is asked to do. No row means that the lease ran out:
-- an expired session is never revived, since its runs may belong to somebody else by now.
update rota.sessions as s
set
    beat_at = rota.now(),
    expires_at = rota.now() + :ttl::interval,
    running = :running::uuid[]
where
    s.id = :id::uuid
    and s.expires_at > rota.now()
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
