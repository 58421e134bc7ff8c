-- Delete a secret.
delete from rota.secrets
where
    tenant_id = :tenant_id::integer
    and name = :name::text
returning name, version, updated_at;
