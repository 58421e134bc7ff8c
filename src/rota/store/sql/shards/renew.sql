-- Renew leases that still hold. It waits for a fire of our own on the same shard, where hold.sql
-- would pass by: a scheduler that is always firing must not lose its shards for it. The locks are
-- taken in the order of the shards, as fire.sql takes them. A lease that ran out is not revived.
with chosen as (
    select s.id
    from rota.shards as s
    where
        s.id = any(:shards::smallint[])
        and s.owner = :owner::uuid
        and s.expires_at > rota.now()
    order by s.id
    for update
)

update rota.shards as s
set expires_at = rota.now() + :ttl::interval
from chosen as c
where s.id = c.id
returning s.id, s.epoch;
