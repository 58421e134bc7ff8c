-- Inserts the completion records of steps whose runs just ended, one per step and state
-- (docs/adr/0018-step-completions.md). `told` holds the runs as they are in history.
insert into rota.step_marks (tenant_id, graph_run_id, step, state, ended, members, run_id)
select
    t.tenant_id,
    t.graph_run_id,
    t.step,
    t.state,
    count(*),
    count(t.member),
    (array_agg(t.id))[1]
from told as t
where t.graph_run_id is not null
group by t.tenant_id, t.graph_run_id, t.step, t.state
