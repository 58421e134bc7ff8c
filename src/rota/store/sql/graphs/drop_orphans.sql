-- Drop the marks of graph runs that are no longer on record: nobody can advance them.
delete from rota.step_marks as m
where
    m.graph_run_id = any(:ids::uuid[])
    and not exists (
        select 1 from rota.graph_runs as g
        where g.run_id = m.graph_run_id
    )
returning m.graph_run_id as id;
