-- Enable row-level security until the end of the transaction: as the role that sees one tenant.
-- Connections keep plans for as long as they live, and a plan that was made while a table was small
-- must not keep reading all of it: few rows are wanted, and there is an index for each case.
-- Returns the database's time, which decides inside the transaction.
select
    set_config('role', 'rota_api', true) as role,
    set_config('rota.tenant', :tenant_id::integer::text, true) as tenant,
    set_config('enable_seqscan', 'off', true) as seqscan,
    rota.now() as now;
