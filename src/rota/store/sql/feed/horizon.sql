-- The current time, the oldest transaction that is still open, the id of the next one, and which
-- transactions hold a write lock on a table that the feed reads (core/commit_window.py). A lock
-- that a transaction waits for counts too: its statement has begun.
-- For the rest of the transaction, plans are as in the hot pool: there is a partition per day, and
-- planning for all of them takes ten times as long as reading. So does starting parallel workers.
select
    clock.now,
    pg_snapshot_xmin(clock.seen)::text::bigint as oldest,
    pg_snapshot_xmax(clock.seen)::text::bigint as next,
    array(
        select distinct l.virtualtransaction || '/' || coalesce(l.pid, 0)
        from pg_locks as l
        where
            l.locktype = 'relation'
            and l.database = (
                select d.oid from pg_database as d
                where d.datname = current_database()
            )
            and l.relation = any(
                array[
                    'rota.runs'::regclass, 'rota.attempts'::regclass, 'rota.live_runs'::regclass,
                    'rota.run_notes'::regclass, 'rota.jobs'::regclass
                ]::oid[]
            )
            and l.mode in (
                'RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'
            )
            and l.pid is distinct from pg_backend_pid()
    ) as writers,
    set_config('enable_seqscan', 'off', true)
    || set_config('enable_hashjoin', 'off', true)
    || set_config('enable_mergejoin', 'off', true)
    || set_config('max_parallel_workers_per_gather', '0', true)
    || set_config('plan_cache_mode', 'force_generic_plan', true) as steered
from (
    select
        rota.now() as now,
        pg_current_snapshot() as seen
) as clock;
