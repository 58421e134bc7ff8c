-- Keep row-level security enabled, without a tenant.
select set_config('rota.tenant', '', true) as tenant;
