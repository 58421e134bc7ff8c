-- Whether any run is unfinished, any step completion is unprocessed, or any tick or submission is
-- still due before a time.
-- Each index is read from the end that empties last, so the answer costs a page or two. From the
-- other end it would read all entries that were drained so far, during the measurement.
select
    (
        select true
        from rota.live_runs as l
        where l.state in ('queued', 'retrying') and l.gates is null
        order by l.queue_id desc, l.tenant_id desc, l.priority desc, l.ready_at desc, l.id desc
        limit 1
    ) is not null
    or (
        select true
        from rota.live_runs as l
        where l.state in ('running', 'cancelling')
        order by l.started_at desc
        limit 1
    ) is not null
    or exists (select 1 from rota.step_marks)
    or exists (
        select 1 from rota.cursors as c
        where c.fire_at < :before::timestamptz
    )
    or exists (
        select 1
        from generate_series(0, 127) as shards (shard)
        cross join
            lateral (
                select 1
                from rota.scheduled_runs as s
                where
                    s.shard = shards.shard
                    and s.due_at < :before::timestamptz
                limit 1
            ) as due
    ) as is_busy;
