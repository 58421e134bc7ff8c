-- Record a delivery to a hook. No row means that it was received before.
insert into rota.hook_deliveries (tenant_id, hook_id, digest, received_at)
values (:tenant_id::integer, :hook_id::uuid, :digest::bytea, rota.now())
on conflict (hook_id, digest) do nothing
returning hook_id as id;
