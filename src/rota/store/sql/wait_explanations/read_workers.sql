-- The workers that could claim a run of this queue, tenant and kind: how many are alive, how many
-- of them serve the queue, how many of those claim runs of the tenant, which kinds those serve, and
-- how busy those are that serve all three. A draining worker claims nothing more.
with alive as (
    select
        s.id,
        s.slots,
        s.kinds,
        :queue_id::integer = any(s.queues) as serves_queue,
        :queue_id::integer = any(s.queues)
        and rota.serves_tenant(s.serves, :queue_id::integer, :tenant::text) as serves_tenant,
        :queue_id::integer = any(s.queues)
        and rota.serves_tenant(s.serves, :queue_id::integer, :tenant::text)
        and :kind_id::integer = any(s.kinds) as serves
    from rota.sessions as s
    where
        s.role = 'worker'
        and s.expires_at > rota.now()
        and not s.draining
),

busy as (
    select
        l.session_id,
        count(*) as held
    from rota.live_runs as l
    where l.state in ('running', 'cancelling')
    group by l.session_id
)

select
    count(*) as alive,
    count(*) filter (where a.serves_queue) as serving_queue,
    count(*) filter (where a.serves_tenant) as serving_tenant,
    count(*) filter (where a.serves) as serving,
    count(*) filter (where a.serves and coalesce(b.held, 0) < a.slots) as with_room,
    coalesce(sum(a.slots) filter (where a.serves), 0) as slots,
    coalesce(sum(b.held) filter (where a.serves), 0)::bigint as busy,
    array(
        select distinct k.name
        from alive as w
        cross join lateral unnest(w.kinds) as served (kind_id)
        inner join rota.kinds as k on served.kind_id = k.id
        where w.serves_tenant
        order by k.name
    ) as kinds,
    array(
        select distinct served.kind_id
        from alive as w
        cross join lateral unnest(w.kinds) as served (kind_id)
        where w.serves
    ) as kind_ids
from alive as a
left join busy as b on a.id = b.session_id;
