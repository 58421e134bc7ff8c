-- The runs of a tenant in each bucket of time, by when they ended, counted in the given slices: the
-- whole period, or one second out of several. A slice is a range of ids, so it costs what it
-- contains; runs that ended more than an hour after the time in their ids are found by a slice of
-- their end times. Lags are counted in bins, a fixed number per factor of e, because percentiles
-- would need sorting (core/duration_bins.py). Each slice is counted separately: for all together,
-- the planner sorts every run. Without `offset 0` it computes a lag again at each reference.
select
    counted.bucket,
    counted.state,
    sum(counted.number)::bigint as number,
    sum(counted.lags)::bigint as lags,
    make_interval(secs => coalesce(sum(counted.lagged), 0)) as lagged,
    make_interval(secs => coalesce(max(counted.longest_lag), 0)) as longest_lag,
    sum(counted.durations)::bigint as durations,
    make_interval(secs => coalesce(sum(counted.lasted), 0)) as lasted,
    array_agg(counted.bin) filter (where counted.lags > 0) as bins,
    array_agg(counted.lags) filter (where counted.lags > 0) as bin_lags
from (
    select part.*
    from unnest(:lows::uuid[], :highs::uuid[]) as slice (low, high)
    cross join
        lateral (
            select
                r.bucket,
                r.state,
                floor(
                    ln(greatest(r.lag, :shortest::double precision))
                    * :bins_per_e::double precision
                )::integer as bin,
                count(*) as number,
                count(r.lag) as lags,
                sum(r.lag) as lagged,
                max(r.lag) as longest_lag,
                count(r.duration) as durations,
                sum(r.duration) as lasted
            from (
                select
                    u.state,
                    width_bucket(u.finished_at, :starts::timestamptz[]) - 1 as bucket,
                    date_part(
                        'epoch',
                        rota.start_lag(
                            u.trigger, u.attempt, u.due_at, u.created_at, u.started_at
                        )
                    ) as lag,
                    date_part('epoch', u.finished_at - u.started_at) as duration
                from rota.runs as u
                where
                    u.tenant_id = :tenant_id::integer
                    and u.id >= slice.low
                    and u.id < slice.high
                    and u.finished_at >= (:starts::timestamptz[])[1]
                    and u.finished_at < :until::timestamptz
                    and u.finished_at - least(u.scheduled_at, u.created_at) <= interval '1 hour'
                offset 0
            ) as r
            group by r.bucket, r.state, bin
        ) as part
    union all
    select part.*
    from unnest(:late_lows::timestamptz[], :late_highs::timestamptz[]) as late (low, high)
    cross join
        lateral (
            select
                r.bucket,
                r.state,
                floor(
                    ln(greatest(r.lag, :shortest::double precision))
                    * :bins_per_e::double precision
                )::integer as bin,
                count(*) as number,
                count(r.lag) as lags,
                sum(r.lag) as lagged,
                max(r.lag) as longest_lag,
                count(r.duration) as durations,
                sum(r.duration) as lasted
            from (
                select
                    u.state,
                    width_bucket(u.finished_at, :starts::timestamptz[]) - 1 as bucket,
                    date_part(
                        'epoch',
                        rota.start_lag(
                            u.trigger, u.attempt, u.due_at, u.created_at, u.started_at
                        )
                    ) as lag,
                    date_part('epoch', u.finished_at - u.started_at) as duration
                from rota.runs as u
                where
                    u.tenant_id = :tenant_id::integer
                    and u.finished_at >= late.low
                    and u.finished_at < late.high
                    and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
                offset 0
            ) as r
            group by r.bucket, r.state, bin
        ) as part
) as counted
group by counted.bucket, counted.state
order by counted.bucket, counted.state;
