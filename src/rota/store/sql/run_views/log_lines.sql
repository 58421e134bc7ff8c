-- Pieces of the log of a tenant's run after a position, in order, attempt by attempt.
select
    l.attempt,
    l.seq,
    l.stream,
    l.logged_at,
    l.chunk
from rota.run_logs as l
where
    l.run_id = :run_id::uuid
    and (l.attempt, l.seq) > (:after_attempt::smallint, :after_seq::integer)
    and (
        exists (
            select 1
            from rota.live_runs as a
            where
                a.id = :run_id::uuid
                and a.tenant_id = :tenant_id::integer
        )
        or exists (
            select 1
            from rota.runs as r
            where
                r.id = :run_id::uuid
                and r.tenant_id = :tenant_id::integer
        )
    )
order by l.attempt asc, l.seq asc
limit :most::integer;
