-- Create gates, or change the limits of existing ones; only a changed gate is written, so that
-- submitting the same job again locks nothing. Sorted by key, so that two transactions create the
-- same gates in the same order. No row for a key means that another transaction created it after
-- this statement began (a retry finds it), or that its tenant has a limit on its keys: then nothing
-- is created for it before the caller has counted them.
with wanted as materialized (
    select
        n.tenant_id,
        n.key,
        n.most,
        n.rate_count,
        n.rate_per,
        n.rate_burst,
        n.in_order
    from
        unnest(
            :tenant_ids::integer[],
            :keys::text[],
            :mosts::integer[],
            :rate_counts::integer[],
            :rate_pers::interval[],
            :rate_bursts::integer[],
            :in_orders::boolean[]
        ) as n (tenant_id, key, most, rate_count, rate_per, rate_burst, in_order)
),

known as materialized (
    select
        g.id,
        w.*,
        g.in_order as was_in_order
    from wanted as w
    inner join rota.gates as g on w.tenant_id = g.tenant_id and w.key = g.key
    where
        g.unused_since is null
        or rota.keep_interned('gates', g.id)
),

changing as (
    select g.id
    from known as k
    inner join rota.gates as g on k.id = g.id
    where
        g.most is distinct from k.most
        or g.rate_count is distinct from k.rate_count
        or g.rate_per is distinct from k.rate_per
        or g.rate_burst is distinct from k.rate_burst
    order by g.tenant_id, g.key
    for no key update of g
),

changed as (
    update rota.gates as g
    set
        most = k.most,
        rate_count = k.rate_count,
        rate_per = k.rate_per,
        rate_burst = k.rate_burst
    from known as k
    where
        g.id = k.id
        and g.id = any(array(select c.id from changing as c))
),

made as (
    insert into rota.gates (
        tenant_id, key, most, rate_count, rate_per, rate_burst, in_order
    )
    select
        w.tenant_id,
        w.key,
        w.most,
        w.rate_count,
        w.rate_per,
        w.rate_burst,
        w.in_order
    from wanted as w
    where
        not exists (
            select 1 from rota.gates as g
            where
                g.tenant_id = w.tenant_id
                and g.key = w.key
        )
        and (
            :is_counted::boolean
            or not exists (
                select 1 from rota.tenants as t
                where
                    t.id = w.tenant_id
                    and (t.default_quotas || t.quotas) ->> 'max_limit_keys' is not null
            )
        )
    order by w.tenant_id, w.key
    on conflict (tenant_id, key) do nothing
    returning id, tenant_id, key, in_order
)

select
    k.id,
    k.tenant_id,
    k.key,
    k.was_in_order as in_order
from known as k
union all
select
    m.id,
    m.tenant_id,
    m.key,
    m.in_order
from made as m;
