-- Microseconds from the due time of each run to the start of its handler, which is the result.
select
    array_agg(
        (r.result #>> '{}')::bigint - (extract(epoch from r.due_at) * 1000000)::bigint
    ) as lags
from rota.runs as r
where
    r.kind_id = :kind_id::integer
    and r.state = 'succeeded'
    and r.scheduled_at >= :since::timestamptz
    and r.scheduled_at < :until::timestamptz;
