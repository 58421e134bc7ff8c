-- For all tenants: the demand of each queue. Ready runs wait for a worker, running ones hold a
-- slot, and upcoming ones become ready within `horizon`: ticks, submissions and delayed retries.
-- Nothing of a paused queue starts, so only its running runs count. Counts stop at a limit.
with horizon as materialized (
    select rota.now() + :horizon::interval as until
),

held as materialized (
    select
        l.queue_id,
        count(*) as number
    from rota.live_runs as l
    where l.state in ('running', 'cancelling')
    group by l.queue_id
),

due as materialized (
    select
        head.queue_id,
        count(*) as number
    from rota.shards as h
    cross join
        lateral (
            (
                select c.queue_id
                from rota.cursors as c
                where
                    c.fire_at is not null
                    and c.shard = h.id
                    and c.fire_at <= (select z.until from horizon as z)
                limit :most_per_shard::integer
            )
            union all
            (
                select s.queue_id
                from rota.scheduled_runs as s
                where
                    s.shard = h.id
                    and s.due_at <= (select z.until from horizon as z)
                limit :most_per_shard::integer
            )
        ) as head
    group by head.queue_id
)

select
    q.name as queue,
    coalesce(waiting.ready, 0) as ready,
    coalesce(held.number, 0) as running,
    case
        when q.paused_at is null then coalesce(waiting.later, 0) + coalesce(due.number, 0)
        else 0
    end as upcoming
from rota.queues as q
cross join
    lateral (
        select
            count(*) filter (where counted.ready_at <= (select rota.now())) as ready,
            count(*) filter (where counted.ready_at > (select rota.now())) as later
        from (
            (
                select l.ready_at
                from rota.live_runs as l
                where
                    l.state in ('queued', 'retrying')
                    and l.gates is null
                    and l.queue_id = q.id
                    and l.ready_at <= (select z.until from horizon as z)
                    and q.paused_at is null
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
                    and l.ready_at <= (select z.until from horizon as z)
                    and q.paused_at is null
                limit :most::integer
            )
        ) as counted
    ) as waiting
left join held on q.id = held.queue_id
left join due on q.id = due.queue_id
order by
    waiting.ready + coalesce(held.number, 0) + coalesce(due.number, 0) desc,
    q.name asc;
