-- What time it is, the oldest transaction that is still open, and the number of the next one.
-- For the rest of the transaction, plans are as in the hot pool: there is a partition for each
-- day, and planning anew for all of them takes ten times as long as looking. So does starting
-- processes to look in parallel.
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
