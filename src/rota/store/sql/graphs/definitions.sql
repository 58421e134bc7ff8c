-- The definitions of graphs.
select
    g.id,
    g.definition
from rota.graphs as g
where g.id = any(:ids::integer[]);
