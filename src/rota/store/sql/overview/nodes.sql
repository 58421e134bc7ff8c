-- The processes whose lease holds, and what they hold.
select
    s.role,
    s.name,
    s.slots,
    cardinality(s.running) as running,
    s.draining,
    s.started_at,
    s.beat_at,
    (
        select count(*) from rota.shards as h
        where
            h.owner = s.id
            and h.expires_at > rota.now()
    ) as shards
from rota.sessions as s
where s.expires_at > rota.now()
order by s.role, s.name;
