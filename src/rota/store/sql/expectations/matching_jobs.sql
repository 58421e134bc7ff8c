-- Jobs of a tenant that a selector matches, at most a few. Patterns are those of `like`.
select
    j.id,
    j.name,
    j.schedule,
    g.definition as graph
from rota.jobs as j
inner join rota.kinds as k on j.kind_id = k.id
inner join rota.queues as q on j.queue_id = q.id
left join rota.graphs as g on j.graph_id = g.id and :with_graph::boolean
where
    j.tenant_id = :tenant_id::integer
    and j.state <> 'deleted'
    and (:job::text is null or j.name like :job::text)
    and (:task::text is null or k.name like :task::text)
    and (:queue::text is null or q.name like :queue::text)
    and j.labels @> :labels::jsonb
    and (not :with_graph::boolean or j.graph_id is not null)
    and (not :with_ticks::boolean or j.schedule is not null)
order by j.id
limit :most::integer;
