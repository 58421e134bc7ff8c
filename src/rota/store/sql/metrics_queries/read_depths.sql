-- The waiting runs of a tenant per queue, and since when the oldest waits; counted up to a limit
-- per queue, separately for runs with and without gates.
select
    q.name as queue,
    q.paused_at is not null
    or exists (
        select 1 from rota.tenant_queues as tq
        where
            tq.tenant_id = :tenant_id::integer
            and tq.queue_id = q.id
            and tq.paused_at is not null
    ) as is_paused,
    open.number + gated.number as ready,
    least(heads.oldest_at, gated.oldest_at) as oldest_at
from rota.queues as q
cross join
    lateral (
        select count(*) as number
        from (
            select 1
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is null
                and l.queue_id = q.id
                and l.tenant_id = :tenant_id::integer
                and l.ready_at <= (select rota.now())
            limit :most::integer
        ) as counted
    ) as open
cross join
    lateral (
        select
            count(*) as number,
            min(counted.ready_at) as oldest_at
        from (
            select l.ready_at
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is not null
                and l.queue_id = q.id
                and l.tenant_id = :tenant_id::integer
                and l.ready_at <= (select rota.now())
            limit :most::integer
        ) as counted
    ) as gated
cross join
    lateral (
        select min(head.ready_at) as oldest_at
        from generate_series(0, 9) as lane (priority)
        cross join
            lateral (
                select l.ready_at
                from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is null
                    and l.queue_id = q.id
                    and l.tenant_id = :tenant_id::integer
                    and l.priority = lane.priority
                    and l.ready_at <= (select rota.now())
                order by l.ready_at asc, l.id asc
                limit 1
            ) as head
    ) as heads
where open.number + gated.number > 0
order by ready desc, q.name asc
limit :most_queues::integer;
