-- Insert runs that have just ended, one in a hundred of them dead.
with added as (
    insert into rota.runs (
        id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt, reason
    )
    select
        run.id,
        run.job_id,
        rota.now(),
        rota.now(),
        rota.now(),
        rota.now(),
        rota.now(),
        :tenant_id::integer,
        :queue_id::integer,
        :kind_id::integer,
        :policy_id::integer,
        1,
        case when run.place % 100 = 0 then 'dead' else 'succeeded' end::rota.run_state,
        'running',
        'tick',
        5,
        1,
        case when run.place % 100 = 0 then '{"type": "ValueError", "message": "bench"}' end::jsonb
    from unnest(:ids::uuid[], :job_ids::uuid[]) with ordinality as run (id, job_id, place)
    returning id
)

select count(a.id) as runs from added as a;
