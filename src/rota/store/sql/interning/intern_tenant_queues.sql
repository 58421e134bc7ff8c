-- The ids of queue names that tenants use, created if new, like intern_queues. A queue that a
-- tenant uses for the first time becomes one of its own. A missing name was created by another
-- transaction after this statement began; a retry finds it.
with wanted as (
    select
        w.tenant_id,
        w.name
    from unnest(:tenant_ids::integer[], :names::text[]) as w (tenant_id, name)
),

known as (
    select
        k.id,
        k.name
    from rota.queues as k
    where
        k.name = any(:names::text[])
        and (k.unused_since is null or rota.keep_interned('queues', k.id))
),

made as (
    insert into rota.queues (name)
    select distinct w.name
    from wanted as w
    where w.name not in (select known.name from known)
    order by w.name
    on conflict (name) do nothing
    returning id, name
),

found as (
    select
        known.id,
        known.name
    from known
    union all
    select
        made.id,
        made.name
    from made
),

owned as (
    insert into rota.tenant_queues (tenant_id, queue_id)
    select
        w.tenant_id,
        f.id
    from wanted as w
    inner join found as f on w.name = f.name
    where
        not exists (
            select 1 from rota.tenant_queues as tq
            where
                tq.tenant_id = w.tenant_id
                and tq.queue_id = f.id
        )
    order by f.name, w.tenant_id
    on conflict (tenant_id, queue_id) do nothing
)

select
    w.tenant_id,
    f.id,
    f.name
from wanted as w
inner join found as f on w.name = f.name;
