-- The processes and shards as of now: how many schedulers and workers are alive, since when none
-- is, and how many shards have had no scheduler for longer than `grace`. With a tenant, only
-- workers that serve it count, and its own pause is returned.
with alive as (
    select
        s.role,
        s.started_at
    from rota.sessions as s
    where
        s.expires_at > rota.now()
        and (
            s.role <> 'worker'
            or :tenant::text is null
            or exists (
                select 1 from unnest(s.queues) as served (queue_id)
                where rota.serves_tenant(s.serves, served.queue_id, :tenant::text)
            )
        )
)

select
    (
        select count(*) from alive as a
        where a.role = 'scheduler'
    ) as schedulers,
    (
        select count(*) from alive as a
        where a.role = 'worker'
    ) as workers,
    (
        select max(s.expires_at) from rota.sessions as s
        where s.role = 'scheduler'
    ) as scheduler_until,
    (
        select max(s.expires_at) from rota.sessions as s
        where s.role = 'worker'
    ) as worker_until,
    (
        select min(a.started_at) from alive as a
        where a.role = 'scheduler'
    ) as scheduled_since,
    (
        select count(*) from rota.shards as h
        where h.expires_at < rota.now() - :grace::interval
    ) as shards_unowned,
    (
        select min(nullif(h.expires_at, '-infinity')) from rota.shards as h
        where h.expires_at < rota.now() - :grace::interval
    ) as unowned_since,
    t.paused_at as tenant_paused_at,
    coalesce(t.quotas, '{}') as quotas,
    coalesce(t.default_quotas, '{}') as scarce_quotas,
    rota.now() as now
from (select 1) as once (one)
left join rota.tenants as t on t.id = :tenant_id::integer;
