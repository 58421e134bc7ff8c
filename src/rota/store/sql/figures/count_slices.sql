-- What became of a tenant's runs in each bucket of time, counted in the given slices of it: whole
-- buckets, or a second of every so many. A slice is a range of ids, so its price is what is in it.
-- Waits are of first attempts: later ones waited for their back-off. They are counted in bins, so
-- many for a factor of e, because percentiles would sort them (core/bins.py). Each slice is counted
-- by itself: all together, the planner sorts every run. Without `offset 0` it works a wait out anew
-- wherever it is named. With both it takes a quarter longer than without bins, not twice as long.
select
    counted.bucket,
    counted.state,
    sum(counted.number)::bigint as number,
    sum(counted.waits)::bigint as waits,
    make_interval(secs => coalesce(sum(counted.waited), 0)) as waited,
    make_interval(secs => coalesce(max(counted.longest_wait), 0)) as longest_wait,
    sum(counted.durations)::bigint as durations,
    make_interval(secs => coalesce(sum(counted.lasted), 0)) as lasted,
    array_agg(counted.bin) filter (where counted.waits > 0) as bins,
    array_agg(counted.waits) filter (where counted.waits > 0) as bin_waits
from (
    select
        slice.bucket,
        part.*
    from unnest(:buckets::integer[], :lows::uuid[], :highs::uuid[]) as slice (bucket, low, high)
    cross join
        lateral (
            select
                r.state,
                floor(
                    ln(greatest(r.wait, :shortest::double precision))
                    * :bins_per_e::double precision
                )::integer as bin,
                count(*) as number,
                count(r.wait) as waits,
                sum(r.wait) as waited,
                max(r.wait) as longest_wait,
                count(r.duration) as durations,
                sum(r.duration) as lasted
            from (
                select
                    u.state,
                    case
                        when u.attempt = 1 and u.trigger <> 'replay'
                            then date_part('epoch', u.started_at - u.due_at)
                    end as wait,
                    date_part('epoch', u.finished_at - u.started_at) as duration
                from rota.runs as u
                where
                    u.tenant_id = :tenant_id::integer
                    and u.id >= slice.low
                    and u.id < slice.high
                offset 0
            ) as r
            group by r.state, bin
        ) as part
) as counted
group by counted.bucket, counted.state
order by counted.bucket, counted.state;
