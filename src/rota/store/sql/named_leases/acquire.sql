-- Take a free lease, or renew the lease of its owner. No row: another process holds it. The epoch
-- rises when the owner changes, and an expired lease of the same owner counts as a change.
insert into rota.named_leases as l (name, owner, holder, expires_at)
values (:name::text, :owner::uuid, :holder::text, rota.now() + :ttl::interval)
on conflict (name) do update
    set
        owner = excluded.owner,
        holder = excluded.holder,
        epoch = l.epoch + (l.owner <> excluded.owner or l.expires_at <= rota.now())::integer,
        expires_at = excluded.expires_at
    where l.expires_at <= rota.now() or l.owner = excluded.owner
returning l.epoch;
