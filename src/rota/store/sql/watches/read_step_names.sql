-- The graph definitions of these graph runs, which name their steps.
select
    g.run_id,
    d.definition,
    g.path
from rota.graph_runs as g
inner join rota.graphs as d on g.graph_id = d.id
where g.run_id = any(:run_ids::uuid[]);
