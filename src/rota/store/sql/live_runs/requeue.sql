-- Requeue finished runs for a new series of attempts. The id stays, so other systems see the same
-- idempotency key, and attempts keep counting, so the fence keeps growing. Attempts keep the
-- earlier outcome. Only dead letters and cancelled runs can be requeued. A run keeps the payload
-- that it used and carries it from now on.
with chosen as (
    select r.*
    from rota.runs as r
    where
        r.id = any(:ids::uuid[])
        and r.state in ('dead', 'lost', 'quarantined', 'cancelled', 'expired')
        -- A step is retried with its graph run, and only once all its steps have ended.
        and r.trigger <> 'graph'
        and not exists (
            select 1 from rota.live_runs as l
            where l.graph_run_id = r.id
        )
        and not exists (
            select 1 from rota.step_marks as m
            where m.graph_run_id = r.id
        )
    order by r.id
    for update
),

taken as (
    delete from rota.runs as r
    using chosen as c
    where
        r.id = c.id
        and r.tenant_id = c.tenant_id
    returning r.id
),

kept as (
    insert into rota.attempts (
        run_id, attempt, session_id, outcome, started_at, finished_at, reason
    )
    select
        c.id,
        c.attempt,
        c.session_id,
        case
            when c.state in ('lost', 'quarantined') then 'lost'
            when c.state in ('cancelled', 'expired') then 'released'
            else 'failed'
        end,
        c.started_at,
        c.finished_at,
        coalesce(c.reason, '{}') || jsonb_build_object('ended', c.state, 'replayed', rota.now())
    from chosen as c
    where c.attempt > 0
    on conflict (run_id, attempt) do nothing
)

insert into rota.live_runs (
    id, job_id, scheduled_at, due_at, ready_at, created_at, tenant_id, queue_id, kind_id,
    policy_id, job_version, state, trigger, priority, attempt, guarantee, payload, gates,
    name, labels, user_id, submitter, address, changed_at
)
select
    c.id,
    c.job_id,
    c.scheduled_at,
    c.due_at,
    rota.now(),
    c.created_at,
    c.tenant_id,
    c.queue_id,
    c.kind_id,
    c.policy_id,
    c.job_version,
    'queued',
    'replay',
    c.priority,
    c.attempt,
    coalesce(p.body ->> 'guarantee', 'at_least_once')::rota.guarantee,
    coalesce(
        :payload::jsonb,
        c.payload,
        case when u.number is not null then coalesce(u.payload, 'null') end
    ),
    c.gates,
    c.name,
    c.labels,
    c.user_id,
    c.submitter,
    c.address,
    rota.now()
from chosen as c
inner join taken as t on c.id = t.id
left join rota.policies as p on c.policy_id = p.id
left join lateral rota.definition_used(c.job_id, c.job_version) as u on true
returning id;
