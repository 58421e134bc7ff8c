-- Insert a copy of each of these finished runs, with another payload, and record its origin and who
-- requested it. It has the kind, queue, policy and definition of the old run. The copy of a
-- submission is a submission of its own, with the same name, labels and user.
with wanted as (
    select
        n.new_id,
        n.payload as new_payload,
        n.gates as new_gates,
        j.id is null as is_submission,
        p.body as policy,
        r.*
    from
        unnest(:ids::uuid[], :new_ids::uuid[], :payloads::jsonb[], :gates::text[])
            as n (id, new_id, payload, gates)
    inner join rota.runs as r on n.id = r.id and r.tenant_id = :tenant_id::integer
    left join rota.jobs as j on r.job_id = j.id
    left join rota.policies as p on r.policy_id = p.id
),

made as (
    insert into rota.live_runs (
        id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, guarantee, payload, gates,
        name, labels, user_id, submitter
    )
    select
        w.new_id,
        case when w.is_submission then w.new_id else w.job_id end,
        w.scheduled_at,
        clock.now as due_at,
        clock.now as ready_at,
        clock.now as created_at,
        clock.now + nullif(w.policy ->> 'deadline', 'none')::interval,
        w.tenant_id,
        w.queue_id,
        w.kind_id,
        w.policy_id,
        w.job_version,
        'queued',
        'replay',
        w.priority,
        coalesce(w.policy ->> 'guarantee', 'at_least_once')::rota.guarantee,
        w.new_payload,
        nullif(coalesce(w.new_gates::integer[], w.gates), '{}'),
        w.name,
        w.labels,
        w.user_id,
        case when w.is_submission then :by::text end
    from wanted as w
    cross join (select rota.now() as now) as clock
    returning id
)

insert into rota.replays (run_id, replay_of, tenant_id, asked_by, asked_at)
select
    w.new_id,
    w.id,
    w.tenant_id,
    :by::text,
    rota.now()
from wanted as w
inner join made as m on w.new_id = m.id
returning run_id as id;
