-- Mark sessions whose lease ran out as dead for ever. A heartbeat on its way finds the session
-- expired and fails, so the worker learns of it before it can finish runs that others now execute.
-- `seen_for` is how long the caller has seen the database without a gap, up to `asked_at`. Until
-- that is a whole lease, a session may be silent only because the database was unavailable; and a
-- server that was frozen executes this long after it was requested.
with dead as (
    select s.id
    from rota.sessions as s
    where
        s.expires_at <= rota.now()
        and s.expires_at > '-infinity'
        and s.expires_at - s.beat_at <= :seen_for::interval
        and :asked_at::timestamptz > rota.now() - interval '3 seconds'
    order by s.id
    limit :most::integer
    for update skip locked
)

update rota.sessions as s
set expires_at = '-infinity'
from dead as d
where s.id = d.id
returning s.id, s.role, s.name;
