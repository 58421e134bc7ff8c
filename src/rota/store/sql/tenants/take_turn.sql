-- Wait until nobody else counts and adds to the same things of a tenant, and keep it so until the
-- end of the transaction. A lock of its own: those who only read the tenant do not wait.
select
    pg_advisory_xact_lock(
        hashtextextended(:things::text || ' of ' || :tenant_id::integer::text, 0)
    )::text as held;
