-- Append pieces to the logs of attempts. A piece that was sent before is not duplicated. Sorted, so
-- that two transactions with the same pieces do not deadlock.
insert into rota.run_logs (run_id, attempt, seq, stream, logged_at, chunk)
select
    l.run_id,
    l.attempt,
    l.seq,
    l.stream,
    l.logged_at,
    l.chunk
from
    unnest(
        :run_ids::uuid[],
        :attempts::smallint[],
        :seqs::integer[],
        :streams::smallint[],
        :logged_ats::timestamptz[],
        :chunks::bytea[]
    ) as l (run_id, attempt, seq, stream, logged_at, chunk)
order by l.run_id, l.attempt, l.seq
on conflict (run_id, attempt, seq) do nothing
returning run_id;
