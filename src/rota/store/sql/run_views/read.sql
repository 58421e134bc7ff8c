-- Runs of a tenant by id, unfinished or finished, with the names of the objects they refer to.
-- Deleted objects have no name. A run without its own payload has that of the definition in force
-- at its version; if that is no longer known, an unfinished run gets the current one.
with found as (
    select
        l.id, l.job_id, l.job_version, l.state, l.scheduled_at, l.due_at, l.ready_at,
        l.created_at, l.started_at, null::timestamptz as finished_at, l.attempt, l.failures,
        l.losses, l.trigger, l.priority, l.kind_id, l.queue_id, l.session_id, l.payload,
        null::jsonb as result, null::jsonb as reason, l.deadline_at, l.graph_run_id, l.step,
        l.member, l.changed_at, l.name, l.labels, l.user_id, l.submitter, l.address
    from unnest(:ids::uuid[]) as i (id)
    inner join rota.live_runs as l on i.id = l.id
    where l.tenant_id = :tenant_id::integer
    union all
    select
        r.id, r.job_id, r.job_version, r.state, r.scheduled_at, r.due_at,
        null::timestamptz as ready_at, r.created_at, r.started_at, r.finished_at, r.attempt,
        r.failures, r.losses, r.trigger, r.priority, r.kind_id, r.queue_id, r.session_id,
        r.payload, r.result, r.reason, null::timestamptz as deadline_at, r.graph_run_id, r.step,
        r.member, null::timestamptz as changed_at, r.name, r.labels, r.user_id, r.submitter,
        r.address
    from unnest(:ids::uuid[]) as i (id)
    inner join rota.runs as r on i.id = r.id
    where r.tenant_id = :tenant_id::integer
)

select
    f.id,
    f.job_id,
    coalesce(f.name, j.name, k.name) as job,
    f.state,
    f.scheduled_at,
    f.due_at,
    f.ready_at,
    f.created_at,
    f.started_at,
    f.finished_at,
    f.attempt,
    f.failures,
    f.losses,
    f.trigger,
    f.priority,
    k.name as kind,
    q.name as queue,
    f.session_id,
    s.name as worker,
    f.reason,
    coalesce(
        f.payload,
        case when u.number is null and f.finished_at is null then j.payload else u.payload end
    ) as payload,
    f.result,
    f.deadline_at,
    n.progress,
    n.message,
    f.graph_run_id,
    f.step,
    f.member,
    -- greatest() ignores nulls.
    coalesce(
        f.finished_at, greatest(f.created_at, f.started_at, f.changed_at, n.noted_at)
    ) as modified_at,
    coalesce(f.labels, u.labels, '{}') as labels,
    coalesce(f.user_id, j.user_id) as user_id,
    f.submitter,
    f.address,
    case when j.id is null then f.job_version else u.number end as job_version
from found as f
left join rota.jobs as j on f.job_id = j.id
left join lateral rota.definition_used(f.job_id, f.job_version) as u on true
left join rota.kinds as k on f.kind_id = k.id
left join rota.queues as q on f.queue_id = q.id
left join rota.sessions as s on f.session_id = s.id
left join rota.run_notes as n on f.id = n.run_id
order by f.id desc;
