-- For all tenants: how many runs are ready and wait in each queue, counted up to a limit, and since
-- when the oldest of the counted ones waits.
select
    q.name as queue,
    waiting.number as waiting,
    rota.now() - waiting.oldest_at as oldest_wait
from rota.queues as q
cross join
    lateral (
        select
            count(*) as number,
            min(counted.ready_at) as oldest_at
        from (
            (
                select l.ready_at
                from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is null
                    and l.queue_id = q.id
                    and l.ready_at <= (select rota.now())
                limit :most::integer
            )
            union all
            (
                select l.ready_at
                from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is not null
                    and l.queue_id = q.id
                    and l.ready_at <= (select rota.now())
                limit :most::integer
            )
        ) as counted
    ) as waiting
order by waiting.number desc, q.name asc;
