-- Put all runs of a tenant behind a gate, or behind none.
update rota.tenants
set gate_id = :gate_id::integer
where id = :tenant_id::integer
returning id;
