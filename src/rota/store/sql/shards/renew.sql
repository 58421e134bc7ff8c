-- Renew valid leases. Waits for a concurrent fire of the same owner on the shard, where hold.sql
-- would skip it: a scheduler that fires constantly must not lose its shards for it. Locks are taken
-- in the order of the shards, as in fire.sql. An expired lease is not revived.
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
