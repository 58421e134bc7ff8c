-- The map that a step refers to by the name of another step of the same graph.
select
    m.run_id,
    m.step,
    m.base
from rota.live_runs as r
inner join rota.graph_runs as g on r.graph_run_id = g.run_id
inner join rota.graphs as d on g.graph_id = d.id
cross join
    lateral (
        -- A sub-graph is nested in the steps that its path names.
        select
            coalesce(array_agg(w.word order by p.depth, w.place), '{}')
            || '{steps}'::text[] as words
        from unnest(g.path) with ordinality as p (step, depth)
        cross join
            lateral
            (values (1, 'steps'), (2, p.step::text), (3, 'graph')) as w (place, word)
    ) as way
cross join
    lateral
    jsonb_array_elements(d.definition #> way.words) with ordinality as s (step, place)
inner join rota.graph_maps as m on g.run_id = m.run_id and s.place - 1 = m.step
where
    r.id = :run_id::uuid
    and s.step ->> 'name' = :step::text;
