-- Whether this server accepts no writes: a standby, or one whose transactions are read-only.
select
    pg_catalog.pg_is_in_recovery()
    or pg_catalog.current_setting('transaction_read_only')::boolean
        as is_read_only;
