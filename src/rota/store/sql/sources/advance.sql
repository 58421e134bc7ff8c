-- Note how far a source got, in the transaction of its events, and renew the lease. No row back
-- means that the lease was lost: then nothing of this transaction may be committed.
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
