-- The states of the runs of these ticks. An id begins with its time, so the runs of a tick lie
-- between two ids, whatever created them. Steps of a graph lie there too.
select
    tick.at,
    found.state
from
    unnest(:ats::timestamptz[], :lows::uuid[], :highs::uuid[]) as tick (at, low, high)
cross join
    lateral (
        select r.state
        from rota.runs as r
        where
            r.tenant_id = :tenant_id::integer
            and r.job_id = :job_id::uuid
            and r.id between tick.low and tick.high
            and r.scheduled_at = tick.at
            and r.trigger in ('tick', 'backfill')
        union all
        select l.state
        from rota.live_runs as l
        where
            l.id between tick.low and tick.high
            and l.tenant_id = :tenant_id::integer
            and l.job_id = :job_id::uuid
            and l.scheduled_at = tick.at
            and l.trigger in ('tick', 'backfill')
    ) as found;
