-- The sessions of a worker, by its name or by session id, with the last heartbeat of each.
select
    s.id,
    s.beat_at,
    s.expires_at > (select rota.now()) as is_alive
from rota.sessions as s
where
    s.role = 'worker'
    and (s.name = :name::text or s.id = :session_id::uuid);
