-- The runs of a kind that were due in a period: how many runs, of how many ticks, how many attempts
-- they took, and when the last of their handlers started. The start is the result of each run, in
-- microseconds since 1970.
select
    coalesce(sum(t.runs), 0)::bigint as runs,
    count(*) as ticks,
    coalesce(sum(t.attempts), 0)::bigint as attempts,
    max(t.last_start) as last_start
from (
    select
        count(*) as runs,
        sum(r.attempt) as attempts,
        max((r.result #>> '{}')::bigint) as last_start
    from rota.runs as r
    where
        r.kind_id = :kind_id::integer
        and r.state = 'succeeded'
        and r.due_at >= :since::timestamptz
        and r.due_at < :until::timestamptz
    group by r.job_id, r.scheduled_at
) as t;
