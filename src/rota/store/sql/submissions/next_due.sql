-- When the next submission of each of these shards is due. One index lookup per shard.
select
    held.shard,
    soonest.due_at
from unnest(:shards::smallint[]) as held (shard)
cross join
    lateral (
        select s.due_at
        from rota.scheduled_runs as s
        where s.shard = held.shard
        order by s.due_at asc
        limit 1
    ) as soonest;
