-- Take free shards and renew those already held. The epoch rises only when the owner changes, and
-- an expired lease of the same owner counts as a change: another might have fired meanwhile.
with chosen as (
    select s.id
    from rota.shards as s
    where
        s.id = any(:shards::smallint[])
        and (s.expires_at <= rota.now() or s.owner = :owner::uuid)
    order by s.id
    for update skip locked
)

update rota.shards as s
set
    owner = :owner::uuid,
    epoch = s.epoch
    + (s.owner is distinct from :owner::uuid or s.expires_at <= rota.now())::integer,
    expires_at = rota.now() + :ttl::interval
from chosen as c
where s.id = c.id
returning s.id, s.epoch;
