-- The version and settings of the server, to check whether it may hold Rota's data.
select
    current_setting('server_version_num')::integer as version,
    current_setting('server_version') as shown_version,
    current_setting('server_encoding') as encoding,
    pg_is_in_recovery() as in_recovery,
    current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    nullif(current_setting('rota.now', true), '') as moved_clock;
