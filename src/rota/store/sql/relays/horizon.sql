-- The current time, which server this is, and which transactions hold a write lock on each table
-- that the relay reads (core/commit_window.py). A lock that a transaction waits for counts too: its
-- statement has begun. The timeline changes when a standby becomes the primary.
-- For the rest of the transaction, plans are as in the hot pool: there is a partition per day, and
-- planning for all of them takes ten times as long as reading.
with locks as materialized (
    select
        l.relation,
        l.virtualtransaction || '/' || coalesce(l.pid, 0) as writer
    from pg_locks as l
    where
        l.locktype = 'relation'
        and l.database = (
            select d.oid from pg_database as d
            where d.datname = current_database()
        )
        and l.mode in (
            'RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'
        )
        and l.pid is distinct from pg_backend_pid()
)

select
    rota.now() as now,
    (
        select c.system_identifier::text from pg_control_system() as c
    ) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as server,
    array(
        select distinct l.writer from locks as l
        where l.relation = 'rota.runs'::regclass
    ) as run_writers,
    array(
        select distinct l.writer from locks as l
        where l.relation = 'rota.attempts'::regclass
    ) as attempt_writers,
    array(
        select distinct l.writer from locks as l
        where l.relation = 'rota.audit'::regclass
    ) as audit_writers,
    array(
        select distinct l.writer from locks as l
        where l.relation = 'rota.incident_events'::regclass
    ) as incident_writers,
    array(
        select distinct l.writer from locks as l
        where l.relation = 'rota.backfills'::regclass
    ) as backfill_writers,
    set_config('enable_seqscan', 'off', true)
    || set_config('enable_hashjoin', 'off', true)
    || set_config('enable_mergejoin', 'off', true)
    || set_config('max_parallel_workers_per_gather', '0', true)
    || set_config('plan_cache_mode', 'force_generic_plan', true) as steered;
