-- Insert the graph runs of nested graphs. They need no worker to expand: they start blocked, with
-- the completion record that starts them.
with made as (
    insert into rota.live_runs (
        id, job_id, scheduled_at, due_at, ready_at, created_at, started_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, guarantee, payload,
        graph_run_id, step
    )
    select
        n.id,
        g.job_id,
        g.scheduled_at,
        clock.now as due_at,
        clock.now as ready_at,
        clock.now as created_at,
        clock.now as started_at,
        g.tenant_id,
        coalesce(n.queue_id, g.queue_id),
        g.kind_id,
        g.policy_id,
        g.job_version,
        'blocked',
        'graph',
        coalesce(n.priority, g.priority),
        g.guarantee,
        coalesce(n.payload, 'null'),
        n.graph_run_id,
        n.step
    from
        unnest(
            :ids::uuid[],
            :graph_run_ids::uuid[],
            :steps::integer[],
            :queue_ids::integer[],
            :priorities::smallint[],
            :payloads::jsonb[]
        ) as n (id, graph_run_id, step, queue_id, priority, payload)
    inner join rota.live_runs as g on n.graph_run_id = g.id
    cross join (select rota.now() as now) as clock
    where g.state = 'blocked'
    on conflict (id) do nothing
    returning id, tenant_id, job_id, started_at, graph_run_id, step
),

opened as (
    insert into rota.graph_runs (run_id, tenant_id, job_id, graph_id, path, started_at)
    select
        m.id,
        m.tenant_id,
        m.job_id,
        p.graph_id,
        p.path || m.step,
        m.started_at
    from made as m
    inner join rota.graph_runs as p on m.graph_run_id = p.run_id
),

marked as (
    insert into rota.step_marks (tenant_id, graph_run_id, step)
    select
        m.tenant_id,
        m.id,
        -2
    from made as m
)

select m.id from made as m;
