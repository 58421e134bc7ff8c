-- Submissions of a tenant by the ids of their runs: scheduled, unfinished and ended ones. `state`
-- is null before the run exists.
with found as (
    select
        s.id, coalesce(s.job_id, s.id) as job_id, null::rota.run_state as state, s.due_at,
        s.created_at, s.created_at as updated_at, s.queue_id, s.kind_id, s.policy_id, s.priority,
        s.gates, s.payload, s.name, s.labels, s.user_id
    from unnest(:ids::uuid[]) as i (id)
    inner join rota.scheduled_runs as s on i.id = s.id
    where s.tenant_id = :tenant_id::integer
    union all
    select
        l.id, l.job_id, l.state, l.scheduled_at as due_at, l.created_at,
        coalesce(l.changed_at, l.created_at) as updated_at, l.queue_id, l.kind_id, l.policy_id,
        l.priority, l.gates, l.payload, l.name, l.labels, l.user_id
    from unnest(:ids::uuid[]) as i (id)
    inner join rota.live_runs as l on i.id = l.id
    where l.tenant_id = :tenant_id::integer
    union all
    select
        r.id, r.job_id, r.state, r.scheduled_at as due_at, r.created_at,
        r.finished_at as updated_at, r.queue_id, r.kind_id, r.policy_id, r.priority, r.gates,
        r.payload, r.name, r.labels, r.user_id
    from unnest(:ids::uuid[]) as i (id)
    inner join rota.runs as r on i.id = r.id
    where r.tenant_id = :tenant_id::integer
)

select
    f.job_id,
    f.id as run_id,
    f.state,
    coalesce(f.name, k.name, '') as name,
    k.name as kind,
    q.name as queue,
    f.priority,
    coalesce(p.body ->> 'guarantee', 'at_least_once') as guarantee,
    f.due_at,
    f.created_at,
    f.updated_at,
    f.payload,
    coalesce(f.labels, '{}') as labels,
    p.body as policy,
    f.user_id,
    f.gates
from found as f
left join rota.kinds as k on f.kind_id = k.id
left join rota.queues as q on f.queue_id = q.id
left join rota.policies as p on f.policy_id = p.id
order by f.id desc;
