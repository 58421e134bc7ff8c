-- Up to when the ticks of a job were decided, by the records: its latest tick before an id, or its
-- creation. Unfinished runs are found in two parts, like the indexes.
select
    greatest(
        j.created_at,
        (
            select r.scheduled_at
            from rota.runs as r
            where
                r.job_id = :id::uuid
                and r.id < :before_id::uuid
                and r.trigger <> 'graph'
                and r.trigger = 'tick'
            order by r.id desc
            limit 1
        ),
        (
            select max(l.scheduled_at)
            from rota.live_runs as l
            where
                l.job_id = :id::uuid
                and l.state in ('blocked', 'queued', 'retrying')
                and l.id < :before_id::uuid
                and l.trigger <> 'graph'
                and l.trigger = 'tick'
        ),
        (
            select max(l.scheduled_at)
            from rota.live_runs as l
            where
                l.job_id = :id::uuid
                and l.state in ('running', 'cancelling')
                and l.id < :before_id::uuid
                and l.trigger <> 'graph'
                and l.trigger = 'tick'
        )
    ) as decided_until
from rota.jobs as j
where j.id = :id::uuid;
