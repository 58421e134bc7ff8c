-- Lock a held lease until the end of the transaction, so that what the transaction writes is
-- written by the holder. No row: the lease was lost.
select l.epoch
from rota.named_leases as l
where
    l.name = :name::text
    and l.owner = :owner::uuid
    and l.epoch = :epoch::bigint
    and l.expires_at > rota.now()
for share;
