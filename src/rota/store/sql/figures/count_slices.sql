-- What became of a tenant's runs in each bucket of time, counted in the given slices of it: whole
-- buckets, or a second of every so many. A slice is a range of ids, so its price is what is in it.
-- Waits are of first attempts: later ones waited for their back-off.
select
    slice.bucket,
    r.state,
    count(*) as number,
    count(r.wait) as waits,
    coalesce(sum(r.wait), '0') as waited,
    coalesce(max(r.wait), '0') as longest_wait,
    count(r.duration) as durations,
    coalesce(sum(r.duration), '0') as lasted
from unnest(:buckets::integer[], :lows::uuid[], :highs::uuid[]) as slice (bucket, low, high)
cross join
    lateral (
        select
            u.state,
            case when u.attempt = 1 and u.trigger <> 'replay' then u.started_at - u.due_at end
                as wait,
            u.finished_at - u.started_at as duration
        from rota.runs as u
        where
            u.tenant_id = :tenant_id::integer
            and u.id >= slice.low
            and u.id < slice.high
    ) as r
group by slice.bucket, r.state
order by slice.bucket, r.state;
