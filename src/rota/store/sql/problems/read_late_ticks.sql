-- How many ticks and submissions of all tenants are overdue at a time, and since when the oldest
-- is. Reads a limited number per shard.
select
    count(*) as number,
    min(late.fire_at) as oldest_at
from generate_series(0, 127) as shard (id)
cross join
    lateral (
        (
            select c.fire_at
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
            select s.due_at
            from rota.scheduled_runs as s
            where
                s.shard = shard.id
                and s.due_at < :before::timestamptz
            order by s.due_at
            limit :most::integer
        )
    ) as late;
