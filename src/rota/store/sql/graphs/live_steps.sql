-- Unfinished runs of the steps of graph runs; those that were asked to stop only on request.
select
    l.id,
    l.state
from rota.live_runs as l
where
    l.graph_run_id = any(:ids::uuid[])
    and (:stopping::boolean or l.state <> 'cancelling')
limit :most::integer;
