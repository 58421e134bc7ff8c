-- The current time, the oldest transaction that is still open, and the id of the next one.
-- For the rest of the transaction, plans are as in the hot pool: there is a partition per day, and
-- planning for all of them takes ten times as long as reading. So does starting parallel workers.
select
    clock.now,
    pg_snapshot_xmin(clock.seen)::text::bigint as oldest,
    pg_snapshot_xmax(clock.seen)::text::bigint as next,
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
