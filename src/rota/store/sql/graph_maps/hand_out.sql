-- Keep items that a source hands out, as long as its attempt holds the run and nobody has handed
-- out the same. The map is locked by the caller before the run is looked at here: whoever cancels
-- does so in this order. The mark tells whoever advances the graph run that there is something to
-- make.
with source as (
    select r.tenant_id
    from rota.live_runs as r
    where
        r.id = :id::uuid
        and r.attempt = :attempt::smallint
        and r.session_id = :session_id::uuid
        -- Once it was asked to stop, nothing that it gives counts.
        and r.state = 'running'
    for no key update
),

moved as (
    update rota.graph_maps as m
    set handed = m.handed + :number::integer
    from source
    where
        m.run_id = :run_id::uuid
        and m.step = :step::integer
        and m.handed = :first::integer
        and m.stopped is null
    returning m.tenant_id
),

kept as (
    insert into rota.graph_items (run_id, step, first, tenant_id, number, items)
    select
        :run_id::uuid,
        :step::integer,
        :first::integer,
        moved.tenant_id,
        :number::integer,
        :items::jsonb
    from moved
)

insert into rota.step_marks (tenant_id, graph_run_id, step, ended)
select
    moved.tenant_id,
    :run_id::uuid,
    :step::integer,
    0
from moved
returning step_marks.graph_run_id as run_id;
