-- Inserts the runs of a batch and records the ticks that were skipped. `is_paused` is the condition
-- that a paused queue is the cause.
passed as (
    insert into rota.runs (
        id, job_id, scheduled_at, due_at, created_at, finished_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, reason
    )
    select
        d.run_id, d.job_id, d.tick_at, d.due_at, rota.now(), rota.now(), d.tenant_id, d.queue_id,
        d.kind_id, d.policy_id, d.version, 'skipped', 'tick', d.priority,
        jsonb_strip_nulls(jsonb_build_object(
            'code', d.refusal,
            'by', case
                when {is_paused}
                    then coalesce(
                        (
                            select p.paused_by from paused as p
                            where p.id = d.queue_id
                        ),
                        (
                            select p.paused_by from paused_by_tenant as p
                            where
                                p.tenant_id = d.tenant_id
                                and p.queue_id = d.queue_id
                        )
                    )
            end
        ))
    from decided as d
    where d.refusal is not null
    on conflict do nothing
),

made as (
    insert into rota.live_runs (
        id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id,
        queue_id, kind_id, policy_id, job_version, state, trigger, priority, guarantee, gates
    )
    select
        d.run_id, d.job_id, d.tick_at, d.due_at, greatest(d.due_at, clock.now), clock.now,
        d.due_at + d.deadline, d.tenant_id, d.queue_id, d.kind_id, d.policy_id, d.version,
        'queued', 'tick', d.priority, d.guarantee, d.gates
    from decided as d
    cross join (select rota.now() as now) as clock
    where d.refusal is null
    on conflict (id) do nothing
)
