-- Resume a paused graph run, with a completion record that makes the advancer look at it. The
-- caller has locked it.
with resumed as (
    update rota.graph_runs as g
    set paused_at = null
    where
        g.run_id = :run_id::uuid
        and g.paused_at is not null
    returning g.run_id, g.tenant_id
)

insert into rota.step_marks (tenant_id, graph_run_id, step)
select
    r.tenant_id,
    r.run_id,
    -2
from resumed as r
returning graph_run_id as id;
