-- Inserts the completion records of runs that end with the same state, without an attempt. A graph
-- run that ends so needs a record of its own, by which the advancer cancels its steps.
insert into rota.step_marks (tenant_id, graph_run_id, step, state, ended, members, run_id)
select
    e.tenant_id,
    e.graph_run_id,
    e.step,
    {state}::rota.run_state,
    count(*),
    count(e.member),
    (array_agg(e.id))[1]
from ended as e
where e.graph_run_id is not null
group by e.tenant_id, e.graph_run_id, e.step
union all
-- The steps of a graph run must be cancelled too.
select
    e.tenant_id,
    e.id,
    -1,
    null,
    1,
    0,
    null
from ended as e
where e.state = 'blocked'
