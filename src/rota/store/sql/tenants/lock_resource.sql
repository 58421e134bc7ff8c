-- Lock the counting and adding of one kind of resource of a tenant until the end of the
-- transaction. A separate lock: transactions that only read the tenant do not wait.
select
    pg_advisory_xact_lock(
        hashtextextended(:things::text || ' of ' || :tenant_id::integer::text, 0)
    )::text as held;
