-- Consume the step completions of graph runs that the caller has locked.
delete from rota.step_marks as m
where m.graph_run_id = any(:ids::uuid[])
returning m.graph_run_id, m.step, m.state, m.ended, m.members, m.run_id;
