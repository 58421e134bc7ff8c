-- The cluster in one row: running runs, live processes, shards without an owner, and the lag of the
-- most overdue tick or submission.
select
    (
        select count(*) from rota.live_runs as l
        where l.state in ('running', 'cancelling')
    ) as running,
    alive.workers,
    alive.draining,
    alive.schedulers,
    alive.slots,
    (
        select count(*)
        from rota.live_runs as l
        inner join rota.sessions as s on l.session_id = s.id
        where
            l.state in ('running', 'cancelling')
            and s.expires_at > rota.now()
    ) as busy,
    (
        select count(*) from rota.shards as h
        where
            h.owner is null
            or h.expires_at <= rota.now()
    ) as shards_unowned,
    coalesce(
        (
            select rota.now() - min(head.at)
            from rota.shards as h
            cross join
                lateral (
                    (
                        select c.fire_at as at
                        from rota.cursors as c
                        where
                            c.fire_at is not null
                            and c.shard = h.id
                        order by c.fire_at
                        limit 1
                    )
                    union all
                    (
                        select s.due_at as at
                        from rota.scheduled_runs as s
                        where s.shard = h.id
                        order by s.due_at
                        limit 1
                    )
                ) as head
            where head.at <= rota.now()
        ),
        '0'
    ) as fire_lag,
    rota.now() as now
from (
    select
        count(*) filter (where s.role = 'worker') as workers,
        count(*) filter (where s.role = 'worker' and s.draining) as draining,
        count(*) filter (where s.role = 'scheduler') as schedulers,
        coalesce(sum(s.slots) filter (where s.role = 'worker'), 0) as slots
    from rota.sessions as s
    where s.expires_at > rota.now()
) as alive;
