-- Delete an endpoint with its secrets. Its deliveries stay until retention deletes them.
delete from rota.webhook_endpoints as e
where
    e.id = :id::uuid
    and e.tenant_id = :tenant_id::integer
returning e.id;
