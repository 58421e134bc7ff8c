-- Write which default quotas a tenant is held against from now on. No row: nothing changed.
update rota.tenants
set default_quotas = :quotas::jsonb
where
    id = :tenant_id::integer
    and default_quotas <> :quotas::jsonb
returning id;
