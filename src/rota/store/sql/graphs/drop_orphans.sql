-- Delete the step completions of graph runs that no longer exist and cannot be advanced.
delete from rota.step_marks as m
where
    m.graph_run_id = any(:ids::uuid[])
    and not exists (
        select 1 from rota.graph_runs as g
        where g.run_id = m.graph_run_id
    )
returning m.graph_run_id as id;
