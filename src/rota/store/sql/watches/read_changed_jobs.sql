-- Jobs that were created or changed since a time, by block ranges. Only those that have conditions
-- of their own, that a rule may match, that are watched already, or that are quarantined.
select
    j.id,
    j.tenant_id,
    j.name,
    j.state,
    j.version,
    j.schedule,
    j.labels,
    j.held,
    j.expect,
    j.alert,
    j.updated_at,
    j.graph_id is not null as is_graph,
    q.name as queue,
    k.name as task,
    c.tick_at,
    c.fire_at
from rota.jobs as j
inner join rota.queues as q on j.queue_id = q.id
inner join rota.kinds as k on j.kind_id = k.id
left join rota.cursors as c on j.id = c.job_id
where
    j.updated_at >= :since::timestamptz
    and (
        j.expect is not null
        or j.state = 'quarantined'
        or j.tenant_id = any(:tenant_ids::integer[])
        or exists (
            select 1 from rota.watches as w
            where w.job_id = j.id
        )
    )
order by j.updated_at, j.id
limit :most::integer;
