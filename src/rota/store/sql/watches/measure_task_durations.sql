-- The 95th percentile of the durations of successful runs of a task, among a limited number of the
-- newest runs of the tenant, and how many runs it was measured from.
select
    count(*) as samples,
    percentile_cont(0.95) within group (order by n.finished_at - n.started_at) as typical
from (
    select
        r.kind_id,
        r.state,
        r.started_at,
        r.finished_at
    from rota.runs as r
    where r.tenant_id = :tenant_id::integer
    order by r.tenant_id desc, r.id desc
    limit :most::integer
) as n
inner join rota.kinds as k on n.kind_id = k.id
where
    k.name = :task::text
    and n.state = 'succeeded'
    and n.started_at is not null;
