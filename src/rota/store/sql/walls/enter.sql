-- Step behind the wall until the end of the transaction: as the role that sees one tenant. Plans
-- are kept by their connections for as long as they live, and one that was made while a table was
-- small must not go on reading all of it: few rows are wanted, and there is an index for each. The
-- time by the database's clock comes with it: what is decided inside is decided by that.
select
    set_config('role', 'rota_api', true) as role,
    set_config('rota.tenant', :tenant_id::integer::text, true) as tenant,
    set_config('enable_seqscan', 'off', true) as seqscan,
    rota.now() as now;
