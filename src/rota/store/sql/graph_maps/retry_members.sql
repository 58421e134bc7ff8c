-- Retry members that did not succeed, or the source of a map. As with every retried run, the id
-- stays and attempts keep counting; the attempts keep the earlier outcome. The caller has locked
-- the graph run.
with chosen as (
    select r.*
    from rota.runs as r
    where
        r.id = any(:ids::uuid[])
        and r.graph_run_id = :run_id::uuid
        and r.tenant_id = (
            select m.tenant_id from rota.graph_maps as m
            where m.run_id = :run_id::uuid
            limit 1
        )
        and r.state <> 'succeeded'
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
    graph_run_id, step, member, changed_at
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
    c.trigger,
    c.priority,
    c.attempt,
    coalesce(p.body ->> 'guarantee', 'at_least_once')::rota.guarantee,
    c.payload,
    c.gates,
    c.graph_run_id,
    c.step,
    c.member,
    rota.now()
from chosen as c
inner join taken as t on c.id = t.id
left join rota.policies as p on c.policy_id = p.id
returning id;
