-- Jobs of a tenant by id, as the API shows them, newest first.
select
    j.id,
    j.name,
    rota.shown_state(j) as state,
    j.version - j.version_skips as version,
    k.name as kind,
    q.name as queue,
    j.priority,
    j.overlap,
    j.keep_first,
    j.when_queue_paused,
    j.guarantee,
    j.schedule,
    j.payload,
    j.labels,
    j.limits,
    p.body as policy,
    j.user_id,
    j.held,
    j.created_at,
    j.updated_at,
    c.tick_at as next_tick_at,
    c.fire_at as next_fire_at,
    g.definition as graph,
    null::uuid as run_id /* each detail: , j.{name} */
from unnest(:ids::uuid[]) as i (id)
inner join rota.jobs as j on i.id = j.id
left join rota.kinds as k on j.kind_id = k.id
left join rota.queues as q on j.queue_id = q.id
left join rota.policies as p on j.policy_id = p.id
left join rota.cursors as c on j.id = c.job_id
-- A page of jobs omits the definition, which may be a megabyte.
left join rota.graphs as g on j.graph_id = g.id and :with_graph::boolean
where j.tenant_id = :tenant_id::integer
order by j.created_at desc, j.id desc;
