-- Mark sessions whose lease ran out as dead for ever. A beat that was on its way meets the mark
-- and fails, so the worker learns of it before it can finish what others now run.
with dead as (
    select s.id
    from rota.sessions as s
    where
        s.expires_at <= rota.now()
        and s.expires_at > '-infinity'
    order by s.id
    limit :most::integer
    for update skip locked
)

update rota.sessions as s
set expires_at = '-infinity'
from dead as d
where s.id = d.id
returning s.id, s.role, s.name;
