-- The last change of each of these jobs after an audit entry. Each job is looked up separately.
select
    n.id,
    a.at,
    a.actor,
    a.action
from unnest(:ids::uuid[], :thing_ids::text[]) as n (id, thing_id)
cross join lateral (
    select
        e.at,
        e.actor,
        e.action
    from rota.audit as e
    where
        e.tenant_id = :tenant_id::integer
        and e.thing = 'job'
        and e.thing_id = n.thing_id
        and e.id > :since::bigint
        and e.action in ('job.create', 'job.update', 'job.pause', 'job.resume')
    order by e.id desc
    limit 1
) as a;
