-- How the runs of one task ended in each bucket, and how long they waited and ran, from the runs
-- with ids in the given slices and from those that ended more than an hour after the time in their
-- ids. Times are counted in bins, which can be added up (core/duration_bins.py). Like
-- metrics_queries/count_slices.sql, which explains its form; runs of other kinds are read and
-- filtered out.
select
    counted.bucket,
    counted.state,
    sum(counted.number)::bigint as number,
    array_agg(counted.wait_bin) filter (where counted.waits > 0) as wait_bins,
    array_agg(counted.waits) filter (where counted.waits > 0) as wait_counts,
    array_agg(counted.duration_bin) filter (where counted.durations > 0) as duration_bins,
    array_agg(counted.durations) filter (where counted.durations > 0) as duration_counts
from (
    select part.*
    from unnest(:lows::uuid[], :highs::uuid[]) as slice (low, high)
    cross join
        lateral (
            select
                r.bucket,
                r.state,
                floor(
                    ln(greatest(r.wait, :shortest::double precision))
                    * :bins_per_e::double precision
                )::integer as wait_bin,
                floor(
                    ln(greatest(r.duration, :shortest::double precision))
                    * :bins_per_e::double precision
                )::integer as duration_bin,
                count(*) as number,
                count(r.wait) as waits,
                count(r.duration) as durations
            from (
                select
                    u.state,
                    width_bucket(u.finished_at, :starts::timestamptz[]) - 1 as bucket,
                    date_part(
                        'epoch',
                        rota.start_lag(
                            u.trigger, u.attempt, u.due_at, u.created_at, u.started_at
                        )
                    ) as wait,
                    date_part('epoch', u.finished_at - u.started_at) as duration
                from rota.runs as u
                where
                    u.tenant_id = :tenant_id::integer
                    and u.id >= slice.low
                    and u.id < slice.high
                    and u.kind_id = :kind_id::integer
                    and u.finished_at >= (:starts::timestamptz[])[1]
                    and u.finished_at < :until::timestamptz
                    and u.finished_at - least(u.scheduled_at, u.created_at) <= interval '1 hour'
                offset 0
            ) as r
            group by r.bucket, r.state, wait_bin, duration_bin
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
                    ln(greatest(r.wait, :shortest::double precision))
                    * :bins_per_e::double precision
                )::integer as wait_bin,
                floor(
                    ln(greatest(r.duration, :shortest::double precision))
                    * :bins_per_e::double precision
                )::integer as duration_bin,
                count(*) as number,
                count(r.wait) as waits,
                count(r.duration) as durations
            from (
                select
                    u.state,
                    width_bucket(u.finished_at, :starts::timestamptz[]) - 1 as bucket,
                    date_part(
                        'epoch',
                        rota.start_lag(
                            u.trigger, u.attempt, u.due_at, u.created_at, u.started_at
                        )
                    ) as wait,
                    date_part('epoch', u.finished_at - u.started_at) as duration
                from rota.runs as u
                where
                    u.tenant_id = :tenant_id::integer
                    and u.finished_at >= late.low
                    and u.finished_at < late.high
                    and u.kind_id = :kind_id::integer
                    and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
                offset 0
            ) as r
            group by r.bucket, r.state, wait_bin, duration_bin
        ) as part
) as counted
group by counted.bucket, counted.state
order by counted.bucket, counted.state;
