-- Release a lease, so that another process can take it at once.
update rota.named_leases as l
set expires_at = rota.now()
where
    l.name = :name::text
    and l.owner = :owner::uuid
    and l.epoch = :epoch::bigint
returning l.epoch;
