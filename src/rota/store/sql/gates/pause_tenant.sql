-- Pause or resume a tenant. Pausing it again keeps the time of the first pause.
update rota.tenants
set paused_at = case when :paused::boolean then coalesce(paused_at, rota.now()) end
where id = :tenant_id::integer
returning id;
