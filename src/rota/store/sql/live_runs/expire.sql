-- End waiting runs whose deadline has passed.
with late as (
    select r.id
    from rota.live_runs as r
    where
        r.state in ('blocked', 'queued', 'retrying')
        and r.deadline_at is not null
        and r.deadline_at <= rota.now()
    order by r.deadline_at
    limit :most::integer
    for update skip locked
),

ended as (
    delete from rota.live_runs as r
    using late as l
    where r.id = l.id
    returning r.*
),

marked as (
    -- fragment: step_cancellations state='expired'
    insert into rota.step_marks (tenant_id, graph_run_id, step, state, ended, members, run_id)
    select
        e.tenant_id,
        e.graph_run_id,
        e.step,
        'expired'::rota.run_state,
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
    -- end fragment
)

-- fragment: ended_run row=e without=session_id,result
--   state: 'expired'
--   reason: '{"code": "deadline"}'
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id, queue_id,
    kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt, failures,
    losses, payload, reason, gates, graph_run_id, step, member, name, labels, user_id, submitter,
    address
)
select
    e.id,
    e.job_id,
    e.scheduled_at,
    e.due_at,
    e.created_at,
    e.started_at,
    rota.now(),
    e.tenant_id,
    e.queue_id,
    e.kind_id,
    e.policy_id,
    e.job_version,
    'expired',
    e.state,
    e.trigger,
    e.priority,
    e.attempt,
    e.failures,
    e.losses,
    e.payload,
    '{"code": "deadline"}',
    e.gates,
    e.graph_run_id,
    e.step,
    e.member,
    e.name,
    e.labels,
    e.user_id,
    e.submitter,
    e.address
-- end fragment
from ended as e
returning id;
