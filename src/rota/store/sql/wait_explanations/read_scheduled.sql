-- A scheduled submission of a tenant, and whether a scheduler can create its run.
select
    s.id,
    s.due_at,
    s.shard,
    o.name as scheduler,
    (
        select count(*) from rota.sessions as c
        where
            c.role = 'scheduler'
            and c.expires_at > rota.now()
    ) as schedulers,
    rota.now() as now
from rota.scheduled_runs as s
left join rota.shards as h on s.shard = h.id and h.expires_at > rota.now()
left join rota.sessions as o on h.owner = o.id
where
    s.tenant_id = :tenant_id::integer
    and s.id = :run_id::uuid;
