-- The steps of graph runs with an unfinished run; of a map its source counts, not its members.
select
    l.graph_run_id,
    l.step
from rota.live_runs as l
where
    l.graph_run_id = any(:ids::uuid[])
    and l.member is null;
