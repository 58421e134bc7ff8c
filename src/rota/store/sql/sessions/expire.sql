-- Mark sessions whose lease ran out as dead for ever. A beat that was on its way meets the mark
-- and fails, so the worker learns of it before it can finish what others now run.
-- `seen_for` is how long the caller has seen the database without a break, up to `asked_at`. Until
-- that is a whole lease, a session may be silent only because the database was away; and a server
-- that was frozen carries this out long after it was asked to.
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
