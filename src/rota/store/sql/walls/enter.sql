-- Step behind the wall until the end of the transaction: as the role that sees one tenant.
select
    set_config('role', 'rota_api', true) as role,
    set_config('rota.tenant', :tenant_id::integer::text, true) as tenant;
