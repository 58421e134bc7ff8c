-- The role of a foreign connection, the current time, whether it may write, and whether row-level
-- security limits it to one tenant.
select
    current_user::text as role,
    rota.now() as now,
    current_setting('transaction_read_only')::boolean as is_read_only,
    row_security_active('rota.tenants') as is_walled;
