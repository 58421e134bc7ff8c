-- The holder of each shard, and until when; an expired lease holds nothing.
select
    s.id,
    case when s.expires_at > rota.now() then s.owner end as owner,
    s.epoch,
    s.expires_at
from rota.shards as s
order by s.id;
