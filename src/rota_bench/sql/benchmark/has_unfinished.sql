-- Whether any run of a kind is unfinished.
select
    exists (
        select 1 from rota.live_runs as l
        where l.kind_id = :kind_id::integer
    )
    or exists (
        select 1 from rota.scheduled_runs as s
        where
            s.kind_id = :kind_id::integer
            and s.due_at < :before::timestamptz
    ) as is_busy;
