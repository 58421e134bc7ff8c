-- Store how far a source was read, in the transaction of its events, and renew the lease. No row
-- means that the lease was lost: then this transaction must not commit.
update rota.sources as s
set
    position = coalesce(:position::text, s.position),
    taken = s.taken + :taken::bigint,
    refused = s.refused + :refused::bigint,
    lag = :lag::bigint,
    read_at = rota.now(),
    taken_at = case when :taken::bigint > 0 then rota.now() else s.taken_at end,
    failures = 0,
    error = coalesce(:error::text, s.error),
    error_at = case when :error::text is null then s.error_at else rota.now() end,
    expires_at = rota.now() + :ttl::interval
where
    s.tenant_id = :tenant_id::integer
    and s.name = :name::text
    and s.owner = :owner::uuid
    and s.epoch = :epoch::bigint
    and s.expires_at > rota.now()
returning s.epoch;
