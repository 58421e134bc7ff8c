-- Insert the runs of steps whose graph run the caller has locked. By default they have the priority
-- of the graph run, and they have its scheduled time. Nothing is inserted for a graph run that has
-- ended. The same transaction writes the step states, so no step is created twice. A graph run may
-- be claimed slightly ahead of its time; its steps do not begin before it.
-- What the runs of a step share is sent once, as a run template.
with made as (
    insert into rota.live_runs (
        id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, guarantee, payload,
        graph_run_id, step, member
    )
    select
        n.id,
        g.job_id,
        g.scheduled_at,
        clock.now as due_at,
        greatest(clock.now, g.ready_at),
        clock.now as created_at,
        clock.now + (:deadlines::interval[])[n.mould] as deadline_at,
        g.tenant_id,
        coalesce((:queue_ids::integer[])[n.mould], g.queue_id),
        (:kind_ids::integer[])[n.mould],
        (:policy_ids::integer[])[n.mould],
        g.job_version,
        'queued',
        'graph',
        coalesce((:priorities::smallint[])[n.mould], g.priority),
        (:guarantees::rota.guarantee[])[n.mould],
        -- Never null: that would mean the job's payload.
        coalesce(n.payload, 'null'),
        n.graph_run_id,
        (:steps::integer[])[n.mould],
        (:members::integer[])[n.mould]
    from
        unnest(
            :ids::uuid[],
            :graph_run_ids::uuid[],
            :moulds::integer[],
            :payloads::jsonb[]
        ) as n (id, graph_run_id, mould, payload)
    inner join rota.live_runs as g on n.graph_run_id = g.id
    cross join (select rota.now() as now) as clock
    where g.state = 'blocked'
    on conflict (id) do nothing
    returning 1
)

select count(*) as number from made;
