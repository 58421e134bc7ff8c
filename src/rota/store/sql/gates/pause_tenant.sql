-- Pause a tenant, or let it go on. Pausing what is paused keeps the time of the first.
update rota.tenants
set paused_at = case when :paused::boolean then coalesce(paused_at, rota.now()) end
where id = :tenant_id::integer
returning id;
