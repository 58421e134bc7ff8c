-- The holder of each shard, and until when; an expired lease holds nothing.
select
    h.id,
    s.id as session_id,
    s.name as scheduler,
    h.epoch,
    nullif(h.expires_at, '-infinity') as expires_at
from rota.shards as h
left join rota.sessions as s
    on
        h.owner = s.id
        and h.expires_at > (select rota.now())
order by h.id;
