-- The sessions of a role with a valid lease.
select
    s.id,
    s.name,
    s.slots,
    s.draining,
    s.started_at,
    s.beat_at,
    s.expires_at
from rota.sessions as s
where
    s.role = :role::rota.session_role
    and s.expires_at > rota.now()
order by s.id;
