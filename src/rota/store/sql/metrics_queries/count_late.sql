-- How many jobs and submissions of a tenant are overdue at a time, and since when the oldest is.
-- Reads a limited number of overdue ticks per shard: while no scheduler is alive, all are overdue.
select
    count(*) as number,
    min(late.fire_at) as oldest_at
from generate_series(0, 127) as shard (id)
cross join
    lateral (
        (
            select
                c.tenant_id,
                c.fire_at
            from rota.cursors as c
            where
                c.fire_at is not null
                and c.shard = shard.id
                and c.fire_at < :before::timestamptz
            order by c.fire_at
            limit :most::integer
        )
        union all
        (
            select
                s.tenant_id,
                s.due_at
            from rota.scheduled_runs as s
            where
                s.shard = shard.id
                and s.due_at < :before::timestamptz
            order by s.due_at
            limit :most::integer
        )
    ) as late
where late.tenant_id = :tenant_id::integer;
