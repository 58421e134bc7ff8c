-- How much of an attempt's output is stored, and which of these pieces exist already.
select
    coalesce(sum(octet_length(l.chunk)), 0)::bigint as size,
    coalesce(array_agg(l.seq) filter (where l.seq = any(:seqs::integer[])), '{}') as seqs
from rota.run_logs as l
where
    l.run_id = :run_id::uuid
    and l.attempt = :attempt::smallint;
