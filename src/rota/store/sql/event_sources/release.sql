-- Release a source, so that another process can read it at once.
update rota.sources as s
set expires_at = rota.now()
where
    s.tenant_id = :tenant_id::integer
    and s.name = :name::text
    and s.owner = :owner::uuid
    and s.epoch = :epoch::bigint
    and s.expires_at > rota.now()
returning s.epoch;
