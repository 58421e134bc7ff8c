-- Set or remove the gate of all runs of a tenant.
update rota.tenants
set gate_id = :gate_id::integer
where id = :tenant_id::integer
returning id;
