-- Ask a worker to claim no more runs; its next heartbeat returns it. No row: it is not alive.
update rota.sessions as s
set draining = true
where
    s.id = :id::uuid
    and s.role = 'worker'
    and s.expires_at > rota.now()
returning s.id, s.name;
