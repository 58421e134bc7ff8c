-- The schedulers with a valid lease, and the shards of each.
select
    s.id,
    s.name,
    s.draining,
    s.started_at,
    s.beat_at,
    array(
        select h.id from rota.shards as h
        where
            h.owner = s.id
            and h.expires_at > (select rota.now())
        order by h.id
    ) as shards,
    s.observe_url,
    s.version
from rota.sessions as s
where
    s.role = 'scheduler'
    and s.expires_at > (select rota.now())
order by s.started_at desc, s.id desc
limit :most::integer;
