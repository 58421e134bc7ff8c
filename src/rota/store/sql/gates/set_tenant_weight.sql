-- Set how many turns a tenant gets for one turn of a tenant of weight 1.
update rota.tenants
set weight = :weight::smallint
where id = :tenant_id::integer
returning id;
