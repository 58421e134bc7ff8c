-- The cursors of these shards that must be decided in a period, soonest first. One index scan per
-- shard: a plain `shard = any(…)` would read and sort all due cursors.
select
    due.job_id,
    due.version,
    due.tick_at,
    due.fire_at,
    due.fired,
    due.schedule_id,
    due.shard,
    due.queue_id,
    due.overlap
from unnest(:shards::smallint[], :afters::timestamptz[]) as held (shard, after)
cross join
    lateral (
        select
            c.job_id,
            c.version,
            c.tick_at,
            c.fire_at,
            c.fired,
            c.schedule_id,
            c.shard,
            c.queue_id,
            c.overlap
        from rota.cursors as c
        where
            c.shard = held.shard
            and c.fire_at is not null
            and c.fire_at > held.after
            and c.fire_at <= :before::timestamptz
        order by c.fire_at asc
        limit :per_shard::integer
    ) as due
order by due.fire_at asc
limit :most::integer;
