-- Store items that a source provides, if its attempt still holds the run and the same items were
-- not stored before. The caller locks the map before this reads the run; a cancellation uses the
-- same order. The completion record tells the advancer that there are members to create.
with source as (
    select r.tenant_id
    from rota.live_runs as r
    where
        r.id = :id::uuid
        and r.attempt = :attempt::smallint
        and r.session_id = :session_id::uuid
        -- After it was asked to stop, its items no longer count.
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
