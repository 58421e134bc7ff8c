-- Store the default quotas that apply to a tenant from now on. No row: nothing changed.
update rota.tenants
set default_quotas = :quotas::jsonb
where
    id = :tenant_id::integer
    and default_quotas <> :quotas::jsonb
returning id;
