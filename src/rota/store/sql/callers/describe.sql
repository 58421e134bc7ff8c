-- Who writes through somebody else's connection, what time it is, whether it may write at all, and
-- whether it sees one tenant only.
select
    current_user::text as role,
    rota.now() as now,
    current_setting('transaction_read_only')::boolean as is_read_only,
    row_security_active('rota.tenants') as is_walled;
