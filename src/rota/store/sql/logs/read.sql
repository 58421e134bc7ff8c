-- Pieces of a run's log after a position, in order, attempt by attempt.
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
order by l.attempt asc, l.seq asc
limit :most::integer;
