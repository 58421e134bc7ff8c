-- How many jobs of a tenant have a tick that should have been decided before a time, and the oldest
-- of these. Of each shard the first so many overdue ticks are looked at: while no scheduler is
-- alive, all are overdue.
select
    count(*) as number,
    min(late.fire_at) as oldest_at
from generate_series(0, 127) as shard (id)
cross join
    lateral (
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
    ) as late
where late.tenant_id = :tenant_id::integer;
