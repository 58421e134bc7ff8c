-- Store an error and release the source, so that another process can try it.
update rota.sources as s
set
    failures = s.failures + 1,
    error = :error::text,
    error_at = rota.now(),
    expires_at = rota.now()
where
    s.tenant_id = :tenant_id::integer
    and s.name = :name::text
    and s.owner = :owner::uuid
    and s.epoch = :epoch::bigint
    and s.expires_at > rota.now()
returning s.epoch;
