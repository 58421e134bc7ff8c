-- Among a limited number of jobs after an id: those that have conditions of their own, that a rule
-- may match, or that are watched already. The last row read is always returned, as the place to
-- continue from.
with page as materialized (
    select
        p.*,
        lead(p.id) over (order by p.id) is null as is_last
    from (
        select n.*
        from rota.jobs as n
        where n.id > :after::uuid
        order by n.id
        limit :most::integer
    ) as p
)

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
from page as j
inner join rota.queues as q on j.queue_id = q.id
inner join rota.kinds as k on j.kind_id = k.id
left join rota.cursors as c on j.id = c.job_id
where
    j.is_last
    or j.expect is not null
    or (j.tenant_id = any(:tenant_ids::integer[]) and j.state <> 'deleted')
    or exists (
        select 1 from rota.watches as w
        where w.job_id = j.id
    )
order by j.id;
